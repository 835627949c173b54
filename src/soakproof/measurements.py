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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soakproof.errors import UsageError, did_you_mean, words
from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.entered import entered_arm
from soakproof.judge.comparing.request import METRICS_COMPARED
from soakproof.judge.comparing.tables import ArmTable, ChangeTable, RepeatTable, SummaryTable
from soakproof.plain import plain
from soakproof.settings import build, read_toml, refuse_text
from soakproof.sheet import read_sheet

MOST_BYTES = 16 << 20
_NAME = 80  # characters of an arm's or a workload's name


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
    if not path.is_file():
        raise UsageError(f"cannot read {plain(path, 300)}: no plain file", "name a file, TOML or CSV")
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
    for name in dict.fromkeys((*tables, *used)):
        refuse_text(name, f"{where}: arm", _NAME, least=1)
        if document.arm and name not in tables:
            hint = f"{did_you_mean(name, tables)}[[arm]] has: {', '.join(tables)}"
            raise UsageError(f"{where}: no arm is called {plain(name, 80)!r}", hint)
        tables.setdefault(name, ArmTable(name=name))
    _refuse_twice(repeats, where)
    return [
        entered_arm(
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
