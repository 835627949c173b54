"""What two arms' values of one metric allow to be said of a change: material, not material, or unclear.

No I/O. With five repeats an arm, or more, the interval of the ratio decides against the margin, and a change
is material only if it also survives Holm's correction over the metrics beside it. Fewer describe.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import median
from typing import Literal

from soakproof.judge.comparing.alike import Matched
from soakproof.judge.statistics import (
    INFERENCE_FROM,
    Interval,
    Stratum,
    holm,
    stratified_p,
    stratified_ratio,
    thinned,
)
from soakproof.metrics import Better, Metric
from soakproof.plain import plain

ALPHA = 0.05
SLIGHT_S = 0.010  # of a time: what clients and schedulers make, and nobody feels
_SLIGHT = f"less than {SLIGHT_S * 1000:.0f} ms"
_MOST = 400  # values of a stratum and an arm that are compared: pairs grow with the square
_CHANCE = "chance is not excluded once all metrics are counted (Holm)"

Unit = Literal["answers", "runs", "published"]


class Result(StrEnum):
    """What can be said of a change under the margin."""

    WORSE = "worse"
    BETTER = "better"
    SAME = "not material"
    NOT_WORSE = "not worse"  # within the margin or better
    UNCLEAR = "unclear"
    MISSING = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A change of the second arm against the first, as shares: -0.02 is 2 % less."""

    result: Result
    descriptive: bool  # it rests on medians alone
    n: tuple[int | None, int | None] = (0, 0)  # values of the first arm, and of the other
    medians: tuple[float | None, float | None] = (None, None)
    change: Interval | None = None  # with infinite ends where nothing bounds it
    p: float | None = None
    p_holm: float | None = None
    unit: Unit = "answers"
    why: str = ""


def judged(found: Sequence[Matched], metric: Metric, margin: float) -> Judged:
    """What the matched measurements say; at least one of them in each arm."""
    runs = _by_run(found, metric.name)
    strata, unit = (runs, "runs") if runs else (_values(found, metric.name), "answers")
    was, now = (sorted(v for pair in _values(found, metric.name) for v in pair[arm]) for arm in (0, 1))
    made = Judged(
        result=Result.UNCLEAR,
        descriptive=True,
        n=(sum(len(a) for a, _ in strata), sum(len(b) for _, b in strata)),
        medians=(median(was), median(now)),
        unit="runs" if unit == "runs" else "answers",
    )
    if was == now:
        return replace(
            made,
            change=Interval(0.0, 0.0, 0.0),
            descriptive=min(len(was), len(now)) < INFERENCE_FROM,
            why="both arms have the very same values: identical data is no evidence of equality by itself",
        )
    if min(made.n[0] or 0, made.n[1] or 0) < INFERENCE_FROM:
        return _described(made, strata, metric, margin)
    return _inferred(made, strata, metric, margin, _spread(found, metric.name))


def _values(found: Sequence[Matched], metric: str) -> list[Stratum]:
    return [([m.values[metric] for m in one.was], [m.values[metric] for m in one.now]) for one in found]


def _by_run(found: Sequence[Matched], metric: str) -> list[Stratum]:
    """Where both arms have runs enough, a run is a repeat: the median of its answers, each as a share of its
    stratum's level. Else nothing.
    """
    levels = [median(m.values[metric] for m in one.was) for one in found]
    arms: list[list[float]] = []
    for side in ("was", "now"):
        runs: dict[int, list[float]] = {}
        for one, level in zip(found, levels, strict=True):
            for m in getattr(one, side):
                runs.setdefault(m.run, []).append(m.values[metric] / level)
        arms.append([median(values) for values in runs.values()])
    return [(arms[0], arms[1])] if min(map(len, arms)) >= INFERENCE_FROM else []


def _spread(found: Sequence[Matched], metric: str) -> float:
    """By how much the runs of one arm differ among themselves, as a share; 0 with one run each."""
    widest = 0.0
    for side in ("was", "now"):
        runs: dict[int, list[float]] = {}
        for one in found:
            there = getattr(one, side)
            level = median(m.values[metric] for m in there)
            for m in there:
                runs.setdefault(m.run, []).append(m.values[metric] / level)
        medians = [median(values) for values in runs.values()]
        widest = max(widest, max(medians) / min(medians) - 1)
    return widest


def _described(made: Judged, strata: Sequence[Stratum], metric: Metric, margin: float) -> Judged:
    """Of too few values for an interval: medians, or the median of the pairs where lengths differ."""
    if len(strata) == 1:
        share = median(strata[0][1]) / median(strata[0][0]) - 1
    else:
        share = stratified_ratio(_turned(strata)).estimate - 1
    result = beyond(share, share, metric.better, margin)
    why = ""
    if _slight(share, share, made, metric):
        result, why = Result.SAME, _SLIGHT
    elif result in (Result.WORSE, Result.BETTER) and _overlap(strata, share):
        result, why = Result.UNCLEAR, "beyond the margin, but some values of one arm lie among the other's"
    return replace(made, result=result, change=Interval(share, share, share), why=why)


def _overlap(strata: Sequence[Stratum], share: float) -> bool:
    below = [(a, b) if share > 0 else (b, a) for a, b in strata]
    return any(max(low) >= min(high) for low, high in below)


def _turned(strata: Sequence[Stratum]) -> list[Stratum]:
    """The second arm first, so that the ratio is of it to the first; thinned."""
    return [(thinned(b, _MOST), thinned(a, _MOST)) for a, b in strata]


def _inferred(
    made: Judged, strata: Sequence[Stratum], metric: Metric, margin: float, spread: float
) -> Judged:
    turned = _turned(strata)
    ratio = stratified_ratio(turned)
    change = Interval(*(part - 1 for part in ratio))
    result = beyond(change.low, change.high, metric.better, margin)
    why = ""
    if ratio.low == 0:
        why = "too few values of like lengths for an interval"
    elif result is Result.UNCLEAR:
        why = "the interval reaches beyond the margin and within it"
    if made.unit == "answers" and result in (Result.WORSE, Result.BETTER) and abs(change.estimate) <= spread:
        result, why = Result.UNCLEAR, f"runs of one arm differ among themselves by {spread:.1%}"
    if _slight(change.low, change.high, made, metric):
        result, why = Result.SAME, _SLIGHT
    p = stratified_p(turned)
    return replace(made, result=result, descriptive=False, change=change, p=p, p_holm=p, why=why)


def _slight(low: float, high: float, made: Judged, metric: Metric) -> bool:
    """Whether a time changed by less than matters, however large a share of a short one that is."""
    return metric.unit == "s" and max(abs(low), abs(high)) * (made.medians[0] or 0) < SLIGHT_S


def beyond(low: float, high: float, better: Better | None, margin: float) -> Result:
    """The result of a change that lies between two shares."""
    if better == "lower":
        low, high = -high, -low
    if low >= -margin:
        return Result.BETTER if low > margin else Result.SAME if high <= margin else Result.NOT_WORSE
    return Result.WORSE if high < -margin else Result.UNCLEAR


def corrected(rows: Mapping[str, Judged]) -> dict[str, Judged]:
    """The metrics of one workload, Holm's correction made over those that have a p-value."""
    p_values = {name: row.p for name, row in rows.items() if row.p is not None}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    found = dict(rows)
    for name, p in adjusted.items():
        row = replace(rows[name], p_holm=p)
        if row.result in (Result.WORSE, Result.BETTER) and p >= ALPHA:
            row = replace(row, result=Result.UNCLEAR, why=f"{_CHANCE}: p = {p:.2g}")
        found[name] = row
    return found


def unusable(row: Judged, told: Sequence[str]) -> Judged:
    """The same where some values were none: what is left may be a choice of the good ones."""
    why = f"{plain(told[0], 120)}{f', and {len(told) - 1} more' if len(told) > 1 else ''}"
    missing = row.result is Result.MISSING
    return replace(row, result=Result.MISSING if missing else Result.UNCLEAR, why=why)
