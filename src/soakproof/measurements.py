"""Measurements that somebody enters, such as published ones, as arms of a comparison: TOML, or CSV.

[[arm]]                       # their order; the first is what the others are compared with
name = "clean build"
note = "b11434, no draft"     # and identity = { model = "…", backend_build = "…" }
[[repeat]]                    # a row of CSV has the same names
arm = "clean build"
workload = "8K prompt"
position = 1                  # in the order in which all arms were measured
prompt_tokens = 8192
cached_tokens = 0
completion_tokens = 512
generation_rate = 12.29       # any metric, in its unit
[[summary]]                   # a median that was published without its values
arm = "new build"
workload = "long prose"
n = 3
generation_rate = 12.29
[[change]]                    # a change that was published without its values; a pair is a range
arm = "new build"
against = "clean build"
workload = "JSON"
generation_rate = "-2.66 %"
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from soakproof.errors import UsageError, did_you_mean, words
from soakproof.judge.comparing.arms import Arm, Change, Measurement, Summary
from soakproof.judge.comparing.request import METRICS_COMPARED
from soakproof.judge.identity import FIELDS
from soakproof.plain import plain
from soakproof.settings import build, read_toml, refuse_text
from soakproof.sheet import read_sheet
from soakproof.units import Ratio

MOST_BYTES = 16 << 20
Count = Annotated[int, Meta(ge=0)]
Place = Annotated[int, Meta(ge=1)]
_NAME = 80  # characters of an arm's or a workload's name


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTable:
    """An arm, in the order in which they are to stand."""

    name: str  # as the other tables call it
    note: str = ""  # what it is, in words
    identity: dict[str, Any] = field(default_factory=dict)  # fields of a run's identity that are known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatTable:
    """One repeat; beside these, any metric that has a better direction."""

    arm: str  # whose it is
    workload: str  # what was asked: only repeats of the same are compared
    repeat: Count | None = None  # its number; each once an arm and workload
    position: Place | None = None  # in the order in which all arms were measured
    prompt_tokens: Count | None = None  # cached ones included
    cached_tokens: Count | None = None  # restored from a cache: 0 where the prompt was cold
    completion_tokens: Count | None = None  # of the answer
    max_tokens: Count | None = None  # that were asked for
    temperature: float | None = None  # 0 is greedy
    prompt: str = ""  # digest of the prompt
    output: str = ""  # digest of the answer
    text: str = ""  # the answer, to show where two split
    draft_n: Count | None = None  # tokens that a draft model proposed
    draft_n_accepted: Count | None = None  # those that were accepted
    acceptance: Ratio | None = None  # where the two are not known


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTable:
    """Published medians, a metric each, without the values behind them."""

    arm: str  # whose they are
    workload: str  # of what
    n: Count | None = None  # values behind each, where that is known
    acceptance: Any = None  # of a draft model: a share, or a pair from the least to the greatest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTable:
    """Published changes, a metric each: a share, or a pair from the least to the greatest."""

    arm: str  # whose they are
    against: str  # the arm that it was compared with
    workload: str  # of what
    n: Count | None = None  # values of each arm, where that is known
    same_output: bool | None = None  # whether the answers were said to be the same


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    title: str = ""
    source: str = ""
    arm: tuple[ArmTable, ...] = ()
    repeat: tuple[dict[str, Any], ...] = ()
    summary: tuple[dict[str, Any], ...] = ()
    change: tuple[dict[str, Any], ...] = ()


def read_measurements(path: Path) -> list[Arm]:
    """The arms of a file, in their order. Raises UsageError for whatever is wrong in it."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        told = words(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read {plain(path, 300)}: {told}") from error
    if size > MOST_BYTES:
        raise UsageError(f"{path.name}: {size >> 20} MiB, at most {MOST_BYTES >> 20} are read")
    if path.suffix.lower() == ".csv":
        table: Mapping[str, Any] = {"repeat": read_sheet(path, _KINDS)}
    else:
        table = read_toml(path)
    return _arms(build(_Document, table, path.name), path.name)


def _arms(document: _Document, where: str) -> list[Arm]:
    repeats = [_row(RepeatTable, row, f"{where}: repeat {n}") for n, row in enumerate(document.repeat, 1)]
    summaries = [
        _row(SummaryTable, row, f"{where}: summary {n}") for n, row in enumerate(document.summary, 1)
    ]
    changes = [_row(ChangeTable, row, f"{where}: change {n}") for n, row in enumerate(document.change, 1)]
    tables = {table.name: table for table in document.arm}
    if len(tables) < len(document.arm):
        raise UsageError(f"{where}: an arm is named twice", "one [[arm]] for each")
    used = [*(r[0].arm for r in repeats), *(s[0].arm for s in summaries)]
    used += [name for c, _ in changes for name in (c.against, c.arm)]
    for name in dict.fromkeys(used):
        refuse_text(name, f"{where}: arm", _NAME, least=1)
        if document.arm and name not in tables:
            hint = f"{did_you_mean(name, tables)}[[arm]] has: {', '.join(tables)}"
            raise UsageError(f"{where}: no arm is called {plain(name, 80)!r}", hint)
        tables.setdefault(name, ArmTable(name=name))
    _refuse_twice(repeats, where)
    return [
        _arm(
            table,
            [r for r in repeats if r[0].arm == table.name],
            [s for s in summaries if s[0].arm == table.name],
            [c for c in changes if c[0].arm == table.name],
            any(c.against == table.name for c, _ in changes),
            where,
        )
        for table in tables.values()
    ]


def _row(kind: Any, row: Mapping[str, Any], where: str) -> tuple[Any, dict[str, Any]]:
    """The table's own fields, and its metrics as they stand."""
    metrics = {name: value for name, value in row.items() if name in METRICS_COMPARED}
    rest = {name: value for name, value in row.items() if name not in metrics}
    for name in rest:
        if name not in kind.__dataclass_fields__:
            known = (*kind.__dataclass_fields__, *METRICS_COMPARED)
            hint = f"{did_you_mean(name, known)}known are: {', '.join(known)}"
            raise UsageError(f"{where}: unknown key {plain(name, 100)!r}", hint)
    made = build(kind, rest, where)
    refuse_text(made.workload, f"{where}: workload", _NAME, least=1)
    return made, metrics


def _refuse_twice(repeats: Iterable[tuple[RepeatTable, object]], where: str) -> None:
    seen: set[tuple[object, ...]] = set()
    for one, _ in repeats:
        keys: list[tuple[object, ...]] = []
        if one.repeat is not None:
            keys.append((f"repeat {one.repeat} of {one.arm}", one.workload))
        if one.position is not None:
            keys.append((f"position {one.position}", one.workload))
        for key in keys:
            if key in seen:
                raise UsageError(f"{where}: {plain(key[0], 120)} is there twice in {plain(key[1], 80)}")
            seen.add(key)


def _arm(table: ArmTable, repeats: Any, summaries: Any, changes: Any, is_referred: bool, where: str) -> Arm:
    for name in table.identity:
        if name not in (known := [f.name for f in FIELDS]):
            hint = f"{did_you_mean(name, known)}known are: {', '.join(known)}"
            raise UsageError(
                f"{where}: identity of {plain(table.name, 80)}: no field {plain(name, 80)!r}", hint
            )
    made, unusable = [], dict[tuple[str, str], tuple[str, ...]]()
    for number, (one, metrics) in enumerate(repeats, 1):
        name = f"{table.name} {one.workload} {one.repeat if one.repeat is not None else number}"
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
        raise UsageError(f"{where}: expected a number, found {plain(repr(value), 60)}")
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    return f"{value:g}, and no measure is negative or 0" if value <= 0 else ""


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


_KINDS: Mapping[str, type] = {
    **dict.fromkeys(METRICS_COMPARED, float),
    "temperature": float,
    **dict.fromkeys(
        (
            "repeat",
            "position",
            "prompt_tokens",
            "cached_tokens",
            "completion_tokens",
            "max_tokens",
            "draft_n",
            "draft_n_accepted",
        ),
        int,
    ),
}
