"""Times: within the run, forward within a record, and forward from line to line of a file. No I/O."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from soakproof.columns import Array, Table
from soakproof.judge.books.disagreement import Disagreement, of_places
from soakproof.judge.books.places import Places, find
from soakproof.judge.books.spans import limits
from soakproof.records import TAGS, Check, Event, Exchange, Iteration, KernelEvent, Opened, Record, Sample
from soakproof.samples import Readings

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

# The times of each kind of record, in the order in which they must be.
_TIMES: Mapping[type, tuple[str, ...]] = {
    Opened: ("due_ns", "sent_ns"),
    Exchange: (
        *("due_ns", "sent_ns", "headers_ns", "first_byte_ns", "first_token_ns", "first_content_ns"),
        *("first_visible_ns", "last_token_ns", "done_ns"),
    ),
    Iteration: ("started_ns", "ended_ns"),
    **dict.fromkeys((Check, KernelEvent, Event), ("t_ns",)),
}
# What no two records share.
_IDENTITY: Mapping[type, Callable[[Any], object]] = {
    KernelEvent: attrgetter("node", "t_ns", "sequence", "message"),
    Event: attrgetter("node", "t_ns", "what"),
}
_EARLY_NS = 50_000_000  # a timer may wake that much before it is due


def order(evidence: "Evidence") -> Iterator[Disagreement]:
    """Nothing before the run or long after it, nothing that ends before it begins, no line out of turn."""
    found: dict[str, list[str]] = defaultdict(list)
    for what, places in (*_of_records(evidence), *_of_readings(evidence)):
        found[what] += places
    for what, those in found.items():
        yield from of_places(
            "order" if "later" in what or "twice" in what else "times", those, "record", what
        )


def _of_records(evidence: "Evidence") -> Iterator[tuple[str, list[str]]]:
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for table in _tables(evidence):
        lines = evidence.line_numbers(table.kind)
        for what, those in _of_table(evidence, table, lines).items():
            found[what] += zip(lines[those].tolist(), map(_place, table.where(those).records), strict=True)
    found["told twice"] += _again(evidence)
    for what, wrong in found.items():
        yield what, [name for _, name in sorted(wrong)]


def _tables(evidence: "Evidence") -> tuple[Table[Any], ...]:
    return (
        *(evidence.opened_table, evidence.exchange_table, evidence.iteration_table, evidence.check_table),
        *(Table[Any](KernelEvent, evidence.kernel), Table[Any](Event, evidence.events)),
    )


def _of_table(evidence: "Evidence", table: Table[Any], lines: Places) -> dict[str, NDArray[np.bool_]]:
    """What is wrong with times of one kind of records, and of which."""
    found: dict[str, NDArray[np.bool_]] = defaultdict(lambda: np.zeros(len(table), bool))
    for node, written in _by_node(table["node"], lines).items():
        for what, those in _of_kind(evidence, node, table, written):
            found[what][written[those]] = True
    return found


def _by_node(nodes: Array, lines: Places) -> dict[str, Places]:
    """The places of each node's records, in the order in which they were written."""
    numbers = {node: number for number, node in enumerate(dict.fromkeys(nodes.tolist()))}
    of = find(nodes.tolist(), numbers)
    written = np.lexsort((lines, of))
    return dict(zip(numbers, np.split(written, np.flatnonzero(np.diff(of[written])) + 1), strict=False))


def _of_kind(
    evidence: "Evidence", node: str, table: Table[Any], written: Places
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The same of one node's, all of them at once."""
    first, until = limits(evidence, node)
    times = np.column_stack([table[name][written].astype(np.float64) for name in _TIMES[table.kind]])
    outside = np.asarray(times[:, 0] < (0 if table.kind is Event else first))
    if until is not None:
        outside |= times[:, -1] > until
    yield "outside of the run", outside
    latest = np.fmax.accumulate(times, axis=1)  # passes over what is not known
    yield "with times that run backward", np.any(times[:, 1:] < latest[:, :-1], axis=1)
    if table.kind is not Exchange:  # which of those ends first is a matter of the server
        yield "behind a later one", np.diff(times[:, -1], prepend=times[0, -1]) < 0


def _again(evidence: "Evidence") -> Iterator[tuple[int, str]]:
    """Records that had been told before. Requests have rules of their own, and so have checks."""
    seen: set[object] = set()
    told: list[tuple[int, KernelEvent | Event]] = []
    told += zip(evidence.line_numbers(KernelEvent).tolist(), evidence.kernel, strict=True)
    told += zip(evidence.line_numbers(Event).tolist(), evidence.events, strict=True)
    for line, record in sorted(told, key=itemgetter(0)):
        identity = _IDENTITY[type(record)](record)
        if identity in seen:
            yield line, _place(record)
        seen.add(identity)


def _of_readings(evidence: "Evidence") -> Iterator[tuple[str, list[str]]]:
    """The same of samples, a source at a time; which line follows which is a matter of a whole node."""
    for part in evidence.readings_told:
        first, until = limits(evidence, str(part.node[0]))
        early = np.where(part.due_ns - part.t_ns < _EARLY_NS, np.minimum(part.due_ns, part.t_ns), part.due_ns)
        outside = early < first
        if until is not None:
            outside |= part.t_ns + part.took_ns > until
        yield "outside of the run", _places(part, outside)
        yield "with times that run backward", _places(part, (part.t_ns < early) | (part.took_ns < 0))
        yield "told twice", _places(part, _repeated(part.due_ns))
    for node in dict.fromkeys(str(part.node[0]) for part in evidence.readings_told):
        parts = [part for part in evidence.readings_told if part.node[0] == node]
        source = np.repeat([part.source for part in parts], [len(part) for part in parts])
        written = np.argsort(np.concatenate([part.line for part in parts]))
        behind = np.diff(np.concatenate([part.t_ns for part in parts])[written]) < 0
        yield "behind a later one", [_called(name, node) for name in source[written][1:][behind]]


def _repeated(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of them there were before."""
    again = np.ones(len(values), bool)
    again[np.unique(values, return_index=True)[1]] = False
    return again


def _places(part: Readings, those: NDArray[np.bool_]) -> list[str]:
    return [_called(part.source, str(part.node[0]))] * int(those.sum())


def _called(source: str, node: str) -> str:
    return f"{TAGS[Sample]} {source} of {node}"


def _place(record: Record) -> str:
    """A record in words: its kind, its node, and what is told of it."""
    for name in ("id", "source", "what", "name", "scenario"):
        if told := getattr(record, name, None):
            return f"{TAGS[type(record)]} {told} of {record.node}"
    return f"{TAGS[type(record)]} line of {record.node}"
