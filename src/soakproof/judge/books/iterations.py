"""Iterations against their checks and exchanges: numbers, what was declared, and times. No I/O."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from soakproof.columns import Array, Table
from soakproof.judge.books.disagreement import Disagreement, of_exchanges, of_places
from soakproof.judge.books.places import Places, find
from soakproof.judge.books.spans import crashed

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_Key = tuple[str, str, int]  # node, kind, number


@dataclass(frozen=True, eq=False)
class _There:
    """The iterations that are told. Of two with the same number the later one counts."""

    places: Mapping[_Key, int]  # among all
    started_ns: Array
    ended_ns: Array

    def strays(self, at: Places, first_ns: Array, last_ns: Array) -> Array:
        """Which of the spans do not lie within the iteration whose place they have."""
        outside = at >= 0
        of = at[outside]
        outside[outside] = (first_ns[outside] < self.started_ns[of]) | (last_ns[outside] > self.ended_ns[of])
        return outside


def iterations(evidence: "Evidence") -> Iterator[Disagreement]:
    """Each number once and none left out; each declared check in each; exchanges and checks within one."""
    table = evidence.iteration_table
    keys = _keys(table, "number")
    places = {key: place for place, key in enumerate(keys)}
    there = _There(places, table["started_ns"], table["ended_ns"])
    doubled = [_named(key) for key, n in Counter(keys).items() if n > 1]
    backward = [_named(keys[place]) for place in np.flatnonzero(there.ended_ns < there.started_ns)]
    yield from of_places("iterations", doubled, "iteration", "told twice")
    yield from of_places("iterations", backward, "iteration", "ending before the start")
    yield from of_places("iterations", list(_unplanned(evidence)), "kind", "not in the plan")
    yield from _checks(evidence, there)
    if not crashed(evidence) and keys:
        missing = list(_missing(there.places))
        yield from of_places("iterations", missing, "iteration", "missing between others by number")
        yield from _exchanges(evidence, there)


def _keys(table: Table[Any], number: str = "iteration") -> list[_Key]:
    """Of which iteration each record is."""
    return list(zip(*(table[name].tolist() for name in ("node", "scenario", number)), strict=True))


def _named(key: _Key) -> str:
    return f"{key[1]} {key[2]}"


def _unplanned(evidence: "Evidence") -> Iterator[str]:
    """Kinds that were played and that the plan does not have, where a plan is told."""
    planned = {str(kind.get("name")) for kind in evidence.plan.get("kinds") or ()}
    tables = (evidence.opened_table, evidence.exchange_table, evidence.iteration_table)
    played = {kind for table in tables for kind in table["scenario"].tolist()}
    return iter(sorted(played - planned) if planned else ())


def _missing(there: Mapping[_Key, int]) -> Iterator[str]:
    """The first of each gap in a kind's numbers, which its node counts up."""
    numbers: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node, kind, number in there:
        numbers[node, kind].append(number)
    for (_, kind), those in numbers.items():
        those.sort()
        yield from (f"{kind} {a + 1}" for a, b in pairwise(those) if b > a + 1)


def _checks(evidence: "Evidence", there: _There) -> Iterator[Disagreement]:
    """Every declared check is told in every iteration, as unknown where it was not reached."""
    table = evidence.check_table
    keys, names = _keys(table), table["name"].tolist()
    at = find(keys, there.places)
    known = set(evidence.opened_table["id"].tolist())
    unheard = [id for ids in table["exchanges"].tolist() for id in ids if id not in known]
    untimely = _named_at(there.strays(at, table["t_ns"], table["t_ns"]), names, keys)
    yield from of_places("checks", _absent(evidence, there, at, names), "declared check", "not told")
    yield from of_places("checks", untimely, "check", "told outside of the iteration's time")
    yield from of_exchanges("checks", unheard, "looked at by checks and never opened")
    if not crashed(evidence):
        homeless = _named_at(at < 0, names, keys)
        yield from of_places("checks", homeless, "check", "of no iteration that is told")


def _named_at(those: Array, names: Sequence[str], keys: Sequence[_Key]) -> list[str]:
    return [f"{names[place]} of {_named(keys[place])}" for place in np.flatnonzero(those).tolist()]


def _absent(evidence: "Evidence", there: _There, at: Places, names: Sequence[str]) -> list[str]:
    """Of each iteration without one of the checks that its kind declares, the first of them by name."""
    declared = {k.get("name"): set(k.get("checks") or ()) for k in evidence.plan.get("kinds") or ()}
    made = set(zip(at.tolist(), names, strict=True))
    return [
        f"{min(left)} of {_named(key)}"
        for key, place in there.places.items()
        if (left := [name for name in declared.get(key[1], ()) if (place, name) not in made])
    ]


def _exchanges(evidence: "Evidence", there: _There) -> Iterator[Disagreement]:
    table = evidence.exchange_table
    at = find(_keys(table), there.places)
    untimely = there.strays(at, table["due_ns"], table["done_ns"])
    yield from of_exchanges("iterations", table["id"][at < 0].tolist(), "of no iteration that is told")
    yield from of_exchanges("iterations", table["id"][untimely].tolist(), "outside of the iteration's time")
