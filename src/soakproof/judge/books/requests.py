"""Requests as they were opened against the same as they were closed: ids, seeds, what was asked. No I/O."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from soakproof.judge.books.disagreement import Disagreement, of_exchanges
from soakproof.judge.books.spans import crashed
from soakproof.records import Exchange, Opened

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_SHARED = tuple(
    name for name in Opened.__struct_fields__ if name != "sent_ns"
)  # which the exchange has of its own
_asked = attrgetter(*_SHARED)


def requests(evidence: "Evidence") -> Iterator[Disagreement]:
    """Each is opened once, then closed once as what it was opened as; ids have no gap, seeds no double."""
    opened: dict[str, Opened] = {}
    closed: set[str] = set()
    found: dict[str, list[str]] = defaultdict(list)
    seeds: set[tuple[str, int]] = set()
    for record in evidence.records:
        if type(record) is Opened:
            if record.id in opened:
                found["opened twice"].append(record.id)
            elif (record.node, record.seed) in seeds:
                found["with the seed of another"].append(record.id)
            opened.setdefault(record.id, record)
            seeds.add((record.node, record.seed))
        elif type(record) is Exchange:
            _close(record, opened.get(record.id), closed, found)
    if not crashed(evidence):
        found["never closed"] += [id for id in opened if id not in closed]
    found["missing between others by number"] += _missing(opened.values())
    for what, those in found.items():
        yield from of_exchanges("requests", those, what)


def _close(record: Exchange, opened: Opened | None, closed: set[str], found: dict[str, list[str]]) -> None:
    if record.id in closed:
        found["closed twice"].append(record.id)
    closed.add(record.id)
    if opened is None:
        found["closed before opened, or never opened"].append(record.id)
    elif _asked(opened) != _asked(record):
        other = next(n for n in _SHARED if getattr(opened, n) != getattr(record, n))
        found[f"closed with another {other} than opened"].append(record.id)


def _missing(opened: Iterable[Opened]) -> list[str]:
    """Ids that must have been given, because a node counts its requests and a later one is there."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for record in opened:
        match = re.fullmatch(re.escape(record.node) + r"-(\d{1,15})", record.id)
        if match:
            numbers[record.node].add(int(match[1]))
    return [f"{node}-{n}" for node, there in numbers.items() for n in _gaps(there)]


def _gaps(numbers: set[int]) -> Iterator[int]:
    """The first number of each gap; the gap may be as wide as a hostile number makes it."""
    before = None
    for number in sorted(numbers):
        if before is not None and number > before + 1:
            yield before + 1
        before = number
