"""Requests as they were opened against the same as they were closed: ids, seeds, what was asked. No I/O."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from soakproof.columns import Array, Table
from soakproof.judge.books.disagreement import Disagreement, in_turn, of_exchanges
from soakproof.judge.books.places import Places, again, find, firsts
from soakproof.judge.books.spans import crashed
from soakproof.records import Opened

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_SHARED = tuple(
    name for name in Opened.__struct_fields__ if name != "sent_ns"
)  # which the exchange has of its own
_MOST_DIGITS = 15  # of a number of an id
_Found = dict[str, list[tuple[int, str]]]  # what is wrong, with (line, id) of each


def requests(evidence: "Evidence") -> Iterator[Disagreement]:
    """Each is opened once, then closed once as what it was opened as; ids have no gap, seeds no double."""
    opened, closed = _book(evidence, evidence.opened_table), _book(evidence, evidence.exchange_table)
    first = firsts(opened.ids, opened.lines)
    is_first = ~again(opened.ids, opened.lines)
    yield from in_turn("requests", _opened(opened, is_first) | _closed(opened, closed, first))
    if not crashed(evidence):
        ended = set(closed.ids)
        is_open = np.array([id not in ended for id in opened.ids], bool)
        never = [id for _, id in opened.told(is_open & is_first)]
        yield from of_exchanges("requests", never, "never closed")
    yield from of_exchanges("requests", _missing(opened, is_first), "missing between others by number")


@dataclass(frozen=True, eq=False)
class _Book:
    """Requests as they were opened, or as they were closed."""

    table: Table[Any]
    ids: list[str]
    lines: Places  # of each, which it was of all

    def told(self, those: Array) -> list[tuple[int, str]]:
        """Line and id of those of a mask, in the order of the lines."""
        return sorted(zip(self.lines[those].tolist(), self.table["id"][those].tolist(), strict=True))


def _book(evidence: "Evidence", table: Table[Any]) -> _Book:
    return _Book(table, table["id"].tolist(), evidence.line_numbers(table.kind))


def _opened(opened: _Book, is_first: Array) -> _Found:
    seeds = list(zip(opened.table["node"].tolist(), opened.table["seed"].tolist(), strict=True))
    return {
        "opened twice": opened.told(~is_first),
        "with the seed of another": opened.told(again(seeds, opened.lines) & is_first),
    }


def _closed(opened: _Book, closed: _Book, first: Mapping[str, int]) -> _Found:
    """What is wrong with the ends of requests; what they ask is set against how each was first opened."""
    at = find(closed.ids, first)
    known = at >= 0
    known[known] = opened.lines[at[known]] < closed.lines[known]
    found = {
        "closed twice": closed.told(again(closed.ids, closed.lines)),
        "closed before opened, or never opened": closed.told(~known),
    }
    agrees = known
    for name in _SHARED:
        differs = np.zeros(len(agrees), bool)
        differs[agrees] = ~_are_same(closed.table[name][agrees], opened.table[name][at[agrees]])
        found[f"closed with another {name} than opened"] = closed.told(differs)
        agrees = agrees & ~differs
    return found


def _are_same(one: Array, other: Array) -> Array:
    """Of a column of two tables; NaN is what neither of them has."""
    same = np.asarray(one == other)
    return same | (np.isnan(one) & np.isnan(other)) if one.dtype == np.float64 else same


def _missing(opened: _Book, those: Array) -> list[str]:
    """Ids that must have been given, because a node counts its requests and a later one is there."""
    written = np.argsort(opened.lines)
    written = written[those[written]]
    numbers: dict[str, set[int]] = defaultdict(set)
    for node, id in zip(*(opened.table[name][written].tolist() for name in ("node", "id")), strict=True):
        of, _, number = id.rpartition("-")
        if of == node and number.isdecimal() and len(number) <= _MOST_DIGITS:
            numbers[node].add(int(number))
    return [f"{node}-{n}" for node, there in numbers.items() for n in _gaps(there)]


def _gaps(numbers: set[int]) -> Iterator[int]:
    """The first number of each gap; the gap may be as wide as a hostile number makes it."""
    before = None
    for number in sorted(numbers):
        if before is not None and number > before + 1:
            yield before + 1
        before = number
