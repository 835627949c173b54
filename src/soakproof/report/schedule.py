"""How the watch kept its schedule, by its own account: looks that were due, and those that it had. No I/O."""

from collections.abc import Iterator, Mapping
from typing import Any

from soakproof.amounts import number
from soakproof.judge.evidence import Evidence
from soakproof.judge.telling import counted
from soakproof.judge.watched import ending
from soakproof.plain import plain
from soakproof.report.page import Column, Table
from soakproof.report.quantity import number as shown

_COLUMNS = (
    Column("Watched"),
    Column("Looks due", "number"),
    Column("Done", "number"),
    Column("Missed", "number"),
    Column("Latest by (ms)", "number"),
)
_FIELDS = ("due", "had", "missed", "late_max_ms")
_OWN = "the watch itself"


def watch_line(evidence: Evidence) -> str:
    """How the watch ended, and what it saw and left out of the kernel's log."""
    told = ending(evidence)
    if told is None:
        return "The watch left no account of its own schedule."
    why = plain(told.details.get("reason") or "no reason told", 80)
    parts = [f"The watch ended in good order ({why})"]
    incidents, lost = (number(told.details.get(name)) for name in ("incidents", "kernel_lines_not_kept"))
    if incidents is not None:
        parts.append(f"{counted(int(incidents), 'incident')} in the kernel's log")
    if lost:
        parts.append(f"{counted(int(lost), 'line')} of that log beyond what it keeps")
    return f"{'; '.join(parts)}."


def schedule_table(evidence: Evidence) -> Table:
    """A row for the watch's own tick and one a schedule of sources; what it did not tell is "unknown"."""
    told = ending(evidence)
    rows = () if told is None else tuple(_rows(told.details))
    return Table(_COLUMNS, rows, "The watch left no account of its own schedule.")


def _rows(details: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    own = ("ticks_due", "ticks_had", "ticks_missed", "late_max_ms")
    yield (_OWN, *(_shown(details.get(name)) for name in own))
    sources = details.get("sources")
    for name, figures in sorted(sources.items()) if isinstance(sources, Mapping) else ():
        there = figures if isinstance(figures, Mapping) else {}
        yield (str(name), *(_shown(there.get(field)) for field in _FIELDS))


def _shown(value: Any) -> str:
    found = number(value)
    return "unknown" if found is None else shown(found)
