"""The table of a comparison: one row an arm, workload, state of its prompts, and metric. No I/O."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from soakproof.judge.comparing.alike import UNTOLD, lengths_told, matched, state
from soakproof.judge.comparing.arms import Arm, Change, Measurement
from soakproof.judge.comparing.judged import Judged, Result, beyond, corrected, judged, unusable
from soakproof.judge.statistics import INFERENCE_FROM, Interval
from soakproof.metrics import METRICS

_DESCRIBED = (Result.WORSE, Result.BETTER, Result.SAME, Result.NOT_WORSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What can be said of one metric of one workload. ``first`` is the arm that it is compared with."""

    first: str
    arm: str
    workload: str
    prompts: str  # cold, cached, partly cached, or not told
    metric: str
    judged: Judged
    left_out: tuple[int, int] = (0, 0)  # values of each arm without a counterpart of like length
    lengths_known: bool = True
    decides: bool = True
    values: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())  # those that were compared

    @property
    def unit(self) -> str:
        return METRICS[self.metric].unit

    @property
    def few(self) -> bool:
        """Whether it only describes what there was."""
        return self.judged.descriptive and self.judged.result in _DESCRIBED


def rows(first: Arm, arm: Arm, metrics: Sequence[str], margin: float) -> list[Row]:
    """Every row of an arm against the first, in the order of workloads and metrics."""
    published = list(_published(first, arm, metrics, margin))
    told = {(row.workload, row.metric) for row in published}
    found = [row for row in _measured(first, arm, metrics, margin) if (row.workload, row.metric) not in told]
    return _deciding([*found, *published])


def _measured(first: Arm, arm: Arm, metrics: Sequence[str], margin: float) -> Iterator[Row]:
    both = (first.measurements, arm.measurements)
    for workload in dict.fromkeys(m.workload for side in both for m in side):
        was, now = ([m for m in side if m.workload == workload] for side in both)
        for prompts in dict.fromkeys(state(m) for m in (*was, *now)):
            before, after = ([m for m in side if state(m) == prompts] for side in (was, now))
            made = {
                metric: _row(first, arm, workload, prompts, metric, before, after, margin)
                for metric in metrics
                if any(metric in m.values for m in (*before, *after))
                or (workload, metric) in {*first.unusable, *arm.unusable}
            }
            right = corrected({metric: row.judged for metric, row in made.items()})
            yield from (replace(row, judged=right[metric]) for metric, row in made.items())


def _row(
    first: Arm,
    arm: Arm,
    workload: str,
    prompts: str,
    metric: str,
    was: Sequence[Measurement],
    now: Sequence[Measurement],
    margin: float,
) -> Row:
    pairs = matched(metric, was, now)
    made = judged(pairs, METRICS[metric], margin) if pairs else _apart(first, arm, metric, was, now)
    bad = [told for side in (first, arm) for told in side.unusable.get((workload, metric), ())]
    used = tuple(tuple(m.values[metric] for pair in pairs for m in getattr(pair, s)) for s in ("was", "now"))
    return Row(
        first=first.name,
        arm=arm.name,
        workload=workload,
        prompts=prompts,
        metric=metric,
        judged=unusable(made, bad) if bad else made,
        left_out=_left_out(metric, (was, now), used),
        lengths_known=prompts != UNTOLD and lengths_told(pairs, metric),
        values=(used[0], used[1]),
    )


def _left_out(
    metric: str, sides: Sequence[Sequence[Measurement]], used: Sequence[Sequence[float]]
) -> tuple[int, int]:
    was, now = (_count(metric, side) for side in sides)
    return (was - len(used[0]), now - len(used[1])) if was and now else (0, 0)


def _count(metric: str, side: Iterable[Measurement]) -> int:
    return sum(metric in m.values for m in side)


def _apart(
    first: Arm, arm: Arm, metric: str, was: Sequence[Measurement], now: Sequence[Measurement]
) -> Judged:
    """A row of which nothing can be compared, and why not."""
    n = _count(metric, was), _count(metric, now)
    medians = tuple(median(v) if (v := _all(metric, side)) else None for side in (was, now))
    if all(n):
        why = "no two values of like lengths"
    else:
        arms = [a.name for a, count in zip((first, arm), n, strict=True) if not count]
        why = f"not in {' and '.join(arms)} with such prompts: cold, cached and unknown ones are never mixed"
    return Judged(result=Result.MISSING, descriptive=True, n=n, medians=(medians[0], medians[1]), why=why)


def _all(metric: str, side: Iterable[Measurement]) -> list[float]:
    return [m.values[metric] for m in side if metric in m.values]


def _published(first: Arm, arm: Arm, metrics: Sequence[str], margin: float) -> Iterator[Row]:
    """Rows of published medians, and of published changes where the values behind them are not known."""
    changes = {(c.workload, m): c for c in arm.changes for m in c.shares if c.against == first.name}
    summaries = {(s.workload, m): s for a in (first, arm) for s in a.summaries for m in s.medians}
    for workload, metric in dict.fromkeys((*summaries, *changes)):
        if metric in metrics:
            made = _of_published(first, arm, workload, metric, changes.get((workload, metric)), margin)
            yield Row(
                first=first.name,
                arm=arm.name,
                workload=workload,
                prompts=UNTOLD,
                metric=metric,
                judged=made,
                lengths_known=False,
                decides=made.result is not Result.MISSING,  # a number alone says nothing of a change
            )


def _of_published(
    first: Arm, arm: Arm, workload: str, metric: str, change: Change | None, margin: float
) -> Judged:
    (was, n_was), (now, n_now) = (_median_of(a, workload, metric) for a in (first, arm))
    made = Judged(
        result=Result.MISSING,
        descriptive=True,
        n=(n_was, n_now),
        medians=(was, now),
        unit="published",
    )
    if change is not None:
        low, high = change.shares[metric]
        n = (n_was if was is not None else change.n, n_now if now is not None else change.n)
        result = beyond(low, high, METRICS[metric].better, margin)
        return replace(made, result=result, n=n, change=Interval(low if low == high else math.nan, low, high))
    if was is None or now is None:
        missing = " and ".join(a.name for a, m in ((first, was), (arm, now)) if m is None)
        return replace(made, why=f"nothing of it is told of {missing}")
    share = now / was - 1
    result = beyond(share, share, METRICS[metric].better, margin)
    return replace(made, result=result, change=Interval(share, share, share))


def _median_of(arm: Arm, workload: str, metric: str) -> tuple[float | None, int | None]:
    """The published median, else that of what was entered; with its n."""
    for one in arm.summaries:
        if one.workload == workload and metric in one.medians:
            return one.medians[metric], one.n
    values = _all(metric, (m for m in arm.measurements if m.workload == workload))
    return (median(values), len(values)) if values else (None, None)


def _deciding(found: Sequence[Row]) -> list[Row]:
    """A few stray answers decide nothing where the metric is judged by many of the same workload."""
    judged_by_many = {(r.workload, r.metric) for r in found if not r.judged.descriptive}
    return [
        replace(r, decides=False) if _stray(r) and (r.workload, r.metric) in judged_by_many else r
        for r in found
    ]


def _stray(row: Row) -> bool:
    return row.judged.descriptive and min(n or 0 for n in row.judged.n) < INFERENCE_FROM
