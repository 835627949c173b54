"""Times: within the run, forward within a record, and forward from line to line of a file. No I/O."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from soakproof.judge.books.disagreement import Disagreement, of_places
from soakproof.judge.books.spans import limits
from soakproof.records import TAGS, Check, Event, Exchange, Iteration, KernelEvent, Opened, Record, Sample
from soakproof.samples import Readings

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

# When a line was written, by which the lines of one kind and node follow each other.
_WRITTEN: Mapping[type, Callable[[Any], int]] = {
    Opened: lambda r: r.sent_ns,
    Check: lambda r: r.t_ns,
    Iteration: lambda r: r.ended_ns,
    KernelEvent: lambda r: r.t_ns,
    Event: lambda r: r.t_ns,
}
_STEPS = (  # of an exchange, in the order in which they happen
    "due_ns",
    "sent_ns",
    "headers_ns",
    "first_byte_ns",
    "first_token_ns",
    "first_content_ns",
    "first_visible_ns",
    "last_token_ns",
    "done_ns",
)
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
    last: dict[tuple[str, type], int] = {}
    spans = {node: limits(evidence, node) for node in {r.node for r in evidence.records}}
    found: dict[str, list[str]] = defaultdict(list)
    seen: set[object] = set()
    for record in evidence.records:
        if isinstance(record, Sample):
            continue
        kind, times = type(record), _times(record)
        first, until = spans[record.node]
        if times[0] < (0 if kind is Event else first) or (until is not None and times[-1] > until):
            found["outside of the run"].append(_place(record))
        if any(after < before for before, after in pairwise(times)):
            found["with times that run backward"].append(_place(record))
        written = _WRITTEN.get(kind)
        if written is not None:
            at = written(record)
            if at < last.get((record.node, kind), at):
                found["behind a later one"].append(_place(record))
            last[record.node, kind] = at
        if (identity := _identity(record)) is not None:
            if identity in seen:
                found["told twice"].append(_place(record))
            seen.add(identity)
    yield from found.items()


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


def _times(record: Record) -> list[int]:
    """A record's times, in the order in which they must be."""
    match record:
        case Exchange():
            return [t for name in _STEPS if (t := getattr(record, name)) is not None]
        case Opened():
            return [record.due_ns, record.sent_ns]
        case Iteration():
            return [record.started_ns, record.ended_ns]
        case _:
            return [record.t_ns]


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
