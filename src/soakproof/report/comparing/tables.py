"""A comparison as titled tables and sentences, in reading order. No I/O."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from soakproof.judge.comparing.alike import UNTOLD
from soakproof.judge.comparing.answers import Answers
from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.comparison import Comparison
from soakproof.judge.comparing.rows import Row
from soakproof.judge.statistics import Interval
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.report.page import Column, Table
from soakproof.report.quantity import number
from soakproof.report.visible import line

_UNTOLD = "not told"
_WIDE = 24  # characters of an arm's name at the head of a column
_TOLD = 3  # rows that a reason names
_OF_PAIRS = "change: the middle of the ratios of all pairs of values, not the ratio of the two medians"
_CLOSE = 5e-5  # half of the last digit that is shown of a change


def tables(comparison: Comparison) -> Iterator[tuple[str, Table]]:
    """Title and table; those that have nothing to say are left out."""
    yield "Arms", _arms(comparison)
    if comparison.differences:
        yield "What differs", _differences(comparison)
    yield from _compared(comparison)
    if comparison.drafts:
        yield "Drafts: no measure of speed", _drafts(comparison)
    if comparison.checks:
        yield "Checks", _checks(comparison)


def _arms(comparison: Comparison) -> Table:
    columns = [Column("arm"), Column("what"), Column("answers", "number")]
    cells = [[arm.name, _what(arm), f"{len(arm.measurements):,}"] for arm in comparison.arms]
    if any(arm.failed is not None for arm in comparison.arms):
        columns.append(Column("failed", "number"))
        cells = [[*row, _count(arm.failed)] for row, arm in zip(cells, comparison.arms, strict=True)]
    if any(arm.unknown for arm in comparison.arms):
        columns.append(Column("end unknown", "number"))
        cells = [[*row, f"{arm.unknown:,}"] for row, arm in zip(cells, comparison.arms, strict=True)]
    return Table(tuple(columns), tuple(map(tuple, cells)))


def _count(n: int | None) -> str:
    return _UNTOLD if n is None else f"{n:,}"


def _what(arm: Arm) -> str:
    if arm.is_empty:
        return "empty"
    published = arm.summaries or arm.changes
    entered = "entered, as published" if published else "entered"
    return ", ".join(arm.runs) or " ".join(part for part in (arm.note, f"({entered})") if part)


def _differences(comparison: Comparison) -> Table:
    columns = tuple(map(Column, ("arm", "field", "role", "first arm", "this arm")))
    rows = tuple(
        (one.arm, one.field, one.role.replace("_", " "), *_values(one.was, one.now))
        for one in comparison.differences
    )
    return Table(columns, rows)


def _values(was: Any, now: Any) -> tuple[str, str]:
    """Both; of two tables, such as digests of files, the entries that differ."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        names = sorted(str(key) for key in {*was, *now} if was.get(key) != now.get(key))
        told = f"{listed(names, _TOLD, limit=40)} differ"
        return told, told
    return line(str(was), 120), line(str(now), 120)


def _compared(comparison: Comparison) -> Iterator[tuple[str, Table]]:
    """A table a workload and state of its prompts."""
    if not comparison.rows:
        told = (
            "Withheld: the arms are not comparable." if comparison.against else "Nothing could be compared."
        )
        yield "Compared", Table((), (), told)
    first = line(comparison.arms[0].name, _WIDE)
    columns = (
        Column("metric"),
        Column(first, "number"),
        Column("arm"),
        Column("median", "number"),
        Column("change", "number"),
        Column("between", "number"),
        Column("rests on"),
        Column("material"),
    )
    for workload, prompts in dict.fromkeys((row.workload, row.prompts) for row in comparison.rows):
        there = [row for row in comparison.rows if (row.workload, row.prompts) == (workload, prompts)]
        of = "" if prompts == UNTOLD else f", {prompts} prompts"
        note = _OF_PAIRS if any(_is_of_pairs(row) for row in there) else ""
        yield f"{line(workload, 80)}{of}", Table(columns, tuple(map(_row, there)), note=note)


def _row(row: Row) -> tuple[str, ...]:
    judged = row.judged
    return (
        f"{row.metric} ({row.unit})",
        _median(judged.medians[0]),
        row.arm,
        _median(judged.medians[1]),
        ""
        if judged.change is None or math.isnan(judged.change.estimate)
        else _percent(judged.change.estimate),
        _between(judged.change),
        _rests_on(row),
        str(judged.result) if row.decides else f"({judged.result})",
    )


def _median(value: float | None) -> str:
    return _UNTOLD if value is None else number(value)


def _between(change: Interval | None) -> str:
    """The interval; nothing where there is none, as of medians."""
    if change is None or change.low == change.high or not math.isfinite(change.high):
        return ""
    return f"{change.low * 100:+.1f} to {change.high * 100:+.1f} %"


def _is_of_pairs(row: Row) -> bool:
    """Whether a change does not follow from the medians that stand beside it."""
    (was, now), change = row.judged.medians, row.judged.change
    if not was or now is None or change is None:
        return False
    return abs(change.estimate - (now / was - 1)) > _CLOSE


def _percent(share: float) -> str:
    return f"{share * 100:+.2f} %"


def _rests_on(row: Row) -> str:
    was, now = ("?" if n is None else f"{n:,}" for n in row.judged.n)
    if row.judged.n == (None, None):
        return "not told: descriptive only" if row.few else ""
    unit = " runs" if row.judged.unit == "runs" else ""
    return f"{was} against {now}{unit}{': descriptive only' if row.few else ''}"


def _drafts(comparison: Comparison) -> Table:
    columns = (
        Column("arm"),
        Column("workload"),
        Column("answers with drafts", "number"),
        Column("drafted", "number"),
        Column("accepted", "number"),
        Column("acceptance", "number"),
    )
    rows = tuple(
        (
            one.arm,
            one.workload,
            f"{one.drafting:,} of {one.answers:,}" if one.answers else _UNTOLD,
            _count(one.drafted if one.told else None),
            _count(one.accepted if one.told else None),
            _share(one.acceptance),
        )
        for one in comparison.drafts
    )
    return Table(columns, rows)


def _share(acceptance: tuple[float, float] | None) -> str:
    if acceptance is None:
        return _UNTOLD
    low, high = (f"{share * 100:.1f} %" for share in acceptance)
    return low if low == high else f"{low} to {high}"


def _checks(comparison: Comparison) -> Table:
    columns = (Column("check"), Column("outcome", "outcome"), Column("what was seen"))
    return Table(columns, tuple((c.name, str(c.outcome), c.told) for c in comparison.checks))


def notes(comparison: Comparison) -> Iterator[str]:
    """Sentences below the tables: why rows are unclear, the order, answers, remarks."""
    for told in comparison.against:
        yield f"not comparable: {told}"
    reasons: dict[str, list[str]] = {}
    for row in comparison.rows:
        if row.judged.why:
            of = "" if row.prompts == UNTOLD else f", {row.prompts}"
            name = f"{row.arm} {row.workload}{of} {row.metric}"
            reasons.setdefault(row.judged.why, []).append(name)
    yield from (f"{why}: {listed(names, _TOLD, limit=120)}" for why, names in reasons.items())
    yield comparison.order.told
    for found in comparison.answers:
        yield from _answers(found)
    yield from comparison.remarks


def _answers(found: Answers) -> Iterator[str]:
    if found.published is not None:
        yield f"{found.arm}: {'the same' if found.published else 'another'} output, as published"
    if not found.compared:
        return
    told = f"{found.arm}: {found.identical:,} of {counted(found.compared, 'greedy prompt')} answered alike"
    if found.unsteady:
        told += f"; {found.unsteady:,} have several answers within one arm"
    yield told
    split = found.split
    if split is not None:
        place = "" if split.at is None else f", at character {split.at:,}"
        both = f": {split.was_text!r} and {split.now_text!r}" if split.at is not None else ""
        names = f"{split.was} and {split.now} ({split.workload})"
        yield f"the first that splits: {names}{place}{line(both, 400)}"
