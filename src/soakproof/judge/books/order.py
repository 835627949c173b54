"""Times: within the run, forward within a record, and forward from line to line of a file. No I/O."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from soakproof.judge.books.disagreement import Disagreement, of_places
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
    groups: dict[tuple[str, type], list[int]] = defaultdict(list)
    for place, record in enumerate(evidence.records):
        groups[record.node, type(record)].append(place)
    found: dict[str, list[int]] = defaultdict(list)
    for (node, kind), places in groups.items():
        if kind is not Sample:
            for what, those in _of_kind(evidence, node, kind, [evidence.records[n] for n in places]):
                found[what] += np.array(places)[those].tolist()
    found["told twice"] += _again(evidence.records)
    for what, wrong in found.items():
        yield what, [_place(evidence.records[n]) for n in sorted(wrong)]


def _of_kind(
    evidence: "Evidence", node: str, kind: type, records: list[Record]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """What is wrong with times of one kind of one node's records, and of which; all of them at once."""
    first, until = limits(evidence, node)
    times = np.array(list(map(attrgetter(*_TIMES[kind]), records)), np.float64).reshape(len(records), -1)
    outside = np.asarray(times[:, 0] < (0 if kind is Event else first))
    if until is not None:
        outside |= times[:, -1] > until
    yield "outside of the run", outside
    latest = np.fmax.accumulate(times, axis=1)  # passes over what is not known
    yield "with times that run backward", np.any(times[:, 1:] < latest[:, :-1], axis=1)
    if kind is not Exchange:  # which of those ends first is a matter of the server
        yield "behind a later one", np.diff(times[:, -1], prepend=times[0, -1]) < 0


def _again(records: Sequence[Record]) -> Iterator[int]:
    """Places of records that had been told before."""
    seen: set[object] = set()
    for place, record in enumerate(records):
        if (identity := _identity(record)) is not None:
            if identity in seen:
                yield place
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


def _identity(record: Record) -> object | None:
    """What no two records share; None for requests, which have rules of their own, and for checks."""
    match record:
        case KernelEvent():
            return record.node, record.t_ns, record.sequence, record.message
        case Event():
            return record.node, record.t_ns, record.what
        case _:
            return None


def _place(record: Record) -> str:
    """A record in words: its kind, its node, and what is told of it."""
    for name in ("id", "source", "what", "name", "scenario"):
        if told := getattr(record, name, None):
            return f"{TAGS[type(record)]} {told} of {record.node}"
    return f"{TAGS[type(record)]} line of {record.node}"
