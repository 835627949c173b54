"""What the host, the server and the GPU held of memory over the run: series to draw, and a table of them.

No I/O.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Numbers, held, reading
from soakproof.report.bounds import MemoryBounds
from soakproof.report.figures.series import Series, of_samples
from soakproof.report.page import Column, Table
from soakproof.report.quantity import quantity
from soakproof.samples import Readings

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Held:
    """One kind of memory, by each source that told it."""

    title: str
    lines: tuple[tuple[str, Series], ...]  # name and GiB over time
    limit: tuple[str, float] | None  # what it is called, and bytes


def memory(evidence: Evidence, bounds: MemoryBounds) -> tuple[list[Held], list[str]]:
    """The kinds of memory of which there are readings, and for each other, why there is none."""
    roles = [s for s in evidence.samples if s.startswith("process:")]
    cards = [s for s in evidence.samples if s.startswith("amdgpu")]
    gtt = reading("gtt_used_bytes")
    wanted: tuple[tuple[str, list[str], Numbers, str, float | None], ...] = (
        ("Available memory of the host", ["memory"], reading("available_bytes"), "floor", bounds.floor),
        ("Private memory of the server (RssAnon and swap)", roles, held, "", None),
        ("GTT in use", cards, gtt, "ceiling", bounds.gtt_ceiling),
    )
    found, missing = [], []
    for title, sources, value, name, limit in wanted:
        lines = tuple((s, _gib(evidence.source(s), value)) for s in sources)
        there = tuple((source, line) for source, line in lines if line)
        if there:
            found.append(Held(title, there, None if limit is None else (name, limit)))
        else:
            missing.append(f"{title}: {_why(evidence, sources)}")
    return found, missing


def _gib(told: Readings, numbers: Numbers) -> Series:
    return of_samples(told, lambda readings: numbers(readings) / GIB)


def _why(evidence: Evidence, sources: Sequence[str]) -> str:
    """Why these sources have no value, in their own words."""
    there = [evidence.samples[source] for source in sources if source in evidence.samples]
    if not there:
        return "no such source was sampled"
    silent = next((bad[0] for told in there if len(bad := told.without_value())), None)
    if silent is None:
        return "its readings lack this value"
    return f"{silent.state} ({silent.reason})" if silent.reason else silent.state


def trace_table(kinds: Sequence[Held]) -> Table:
    """A row a source: where it began and ended, its extremes, and the policy's limit."""
    columns = (
        Column("Memory"),
        Column("Source"),
        *(Column(head, "number") for head in ("First", "Lowest", "Highest", "Last", "n")),
        Column("Limit"),
    )
    rows = [_row(kind, source, line) for kind in kinds for source, line in kind.lines]
    return Table(columns, tuple(rows))


def _row(kind: Held, source: str, line: Series) -> tuple[str, ...]:
    known = line.known
    shown = (quantity(float(v) * GIB, "bytes") for v in (known[0], known.min(), known.max(), known[-1]))
    limit = f"{kind.limit[0]} {quantity(kind.limit[1], 'bytes')}" if kind.limit else ""
    return (kind.title, source, *shown, f"{known.size:,}", limit)
