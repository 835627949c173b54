"""An arm out of the tables in which somebody entered it. No I/O.

What is wrong in them raises UsageError, with where it stands.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from soakproof.errors import UsageError, did_you_mean
from soakproof.judge.comparing.arms import LEAST, MOST, Arm, Change, Measurement, Summary
from soakproof.judge.comparing.tables import ArmTable, ChangeTable, RepeatTable, SummaryTable
from soakproof.judge.identity import FIELDS
from soakproof.plain import plain
from soakproof.units import Ratio, per_cent_hint, written


def entered_arm(
    table: ArmTable,
    repeats: Sequence[tuple[RepeatTable, Mapping[str, Any]]],
    summaries: Sequence[tuple[SummaryTable, Mapping[str, Any]]],
    changes: Sequence[tuple[ChangeTable, Mapping[str, Any]]],
    is_referred: bool,
    where: str,
) -> Arm:
    """The arm of these tables, each with its metrics; ``where`` begins each error."""
    for name in table.identity:
        if name not in (known := [f.name for f in FIELDS]):
            hint = f"{did_you_mean(name, known)}known are: {', '.join(known)}"
            raise UsageError(
                f"{where}: identity of {plain(table.name, 80)}: no field {plain(name, 80)!r}", hint
            )
    made, unusable = [], dict[tuple[str, str], tuple[str, ...]]()
    for number, (one, metrics) in enumerate(repeats, 1):
        name = f"{table.name} {one.workload} {one.repeat if one.repeat is not None else number}"
        _refuse_drafts(one, f"{where}: {plain(name, 120)}")
        good = {}
        for metric, value in metrics.items():
            told = _trouble(value, f"{where}: {metric} of {plain(name, 120)}")
            if told:
                key = one.workload, metric
                unusable[key] = (*unusable.get(key, ()), f"{metric} of {plain(name, 80)} is {told}")
            elif value is not None:
                good[metric] = float(value)
        made.append(_measurement(one, name, good))
    return Arm(
        name=table.name,
        note=table.note,
        identity=table.identity,
        measurements=tuple(made),
        unusable=unusable,
        summaries=tuple(_summary(one, metrics, where) for one, metrics in summaries),
        changes=tuple(_change(one, metrics, where) for one, metrics in changes),
        is_referred=is_referred,
    )


def _refuse_drafts(one: RepeatTable, where: str) -> None:
    if one.draft_n_accepted is not None and one.draft_n_accepted > (one.draft_n or 0):
        raise UsageError(f"{where}: more drafts were accepted than made", "draft_n has those that were made")
    if one.acceptance is not None and not 0 <= one.acceptance <= 1:
        told = f"{where}: acceptance: expected 0 to 100 %, found {one.acceptance:.4g}"
        raise UsageError(told, per_cent_hint(one.acceptance))


def _measurement(one: RepeatTable, name: str, values: Mapping[str, float]) -> Measurement:
    return Measurement(
        name=name,
        workload=one.workload,
        values=values,
        prompt_tokens=one.prompt_tokens,
        completion_tokens=one.completion_tokens,
        cached_tokens=one.cached_tokens,
        max_tokens=one.max_tokens,
        temperature=one.temperature,
        prompt=one.prompt,
        output=one.output,
        text=one.text,
        drafted=one.draft_n,
        accepted=one.draft_n_accepted,
        acceptance=None if one.acceptance is None else float(one.acceptance),
        position=one.position,
    )


def _trouble(value: Any, where: str) -> str:
    """What keeps a value from being a measurement; "" for a good one, and for none."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"{where}: expected a number, found {plain(written(value), 60)}")
    if isinstance(value, float) and math.isnan(value):
        return "not a number"
    if isinstance(value, float) and math.isinf(value):
        return "infinite"
    if value <= 0:
        return f"{plain(value, 40)}, and no measure is negative or 0"
    within = LEAST <= value <= MOST
    return "" if within else f"{plain(value, 40)}, and a measure lies within {LEAST:g} and {MOST:g}"


def _summary(one: SummaryTable, metrics: Mapping[str, Any], where: str) -> Summary:
    here = f"{where}: summary of {plain(one.arm, 80)}"
    for metric, value in metrics.items():
        if value is None or (told := _trouble(value, f"{here}: {metric}")):
            raise UsageError(f"{here}: {metric}: expected a number above 0, found {told or 'nothing'}")
    medians = {metric: float(value) for metric, value in metrics.items()}
    acceptance = None if one.acceptance is None else _range(one.acceptance, f"{here}: acceptance")
    return Summary(workload=one.workload, n=one.n, medians=medians, acceptance=acceptance)


def _change(one: ChangeTable, metrics: Mapping[str, Any], where: str) -> Change:
    here = f"{where}: change of {plain(one.arm, 80)}"
    if one.arm == one.against:
        raise UsageError(f"{here}: against itself", "name the arm that it was compared with")
    return Change(
        workload=one.workload,
        against=one.against,
        n=one.n,
        shares={metric: _range(value, f"{here}: {metric}") for metric, value in metrics.items()},
        same_output=one.same_output,
    )


def _range(value: Any, where: str) -> tuple[float, float]:
    """A share, or two of them from the least to the greatest."""
    pair = value if isinstance(value, list) else [value, value]
    try:
        low, high = (float(Ratio.parse(part)) for part in pair)
    except ValueError as error:
        raise UsageError(f"{where}: {error}", 'two stand in brackets: ["1 %", "2 %"]') from None
    if low > high or low <= -1:
        raise UsageError(f"{where}: expected shares above -100 %, the smaller one first, found {low}, {high}")
    return low, high
