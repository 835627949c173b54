"""Iterations against their checks and exchanges: numbers, what was declared, and times. No I/O."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from soakproof.judge.books.disagreement import Disagreement, of_exchanges, of_places
from soakproof.judge.books.spans import crashed
from soakproof.records import Iteration

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_Key = tuple[str, str, int]  # node, kind, number


def iterations(evidence: "Evidence") -> Iterator[Disagreement]:
    """Each number once and none left out; each declared check in each; exchanges and checks within one."""
    there = {(i.node, i.scenario, i.number): i for i in evidence.iterations}
    yield from of_places("iterations", list(_doubled(evidence.iterations)), "iteration", "told twice")
    yield from of_places(
        "iterations", list(_backward(evidence.iterations)), "iteration", "ending before the start"
    )
    yield from of_places("iterations", list(_unplanned(evidence)), "kind", "not in the plan")
    yield from _checks(evidence, there)
    if not crashed(evidence) and there:
        missing = list(_missing(there))
        yield from of_places("iterations", missing, "iteration", "missing between others by number")
        yield from _exchanges(evidence, there)


def _named(key: _Key) -> str:
    return f"{key[1]} {key[2]}"


def _doubled(those: Iterable[Iteration]) -> Iterator[str]:
    times = Counter((i.node, i.scenario, i.number) for i in those)
    return (_named(key) for key, n in times.items() if n > 1)


def _backward(those: Iterable[Iteration]) -> Iterator[str]:
    return (f"{i.scenario} {i.number}" for i in those if i.ended_ns < i.started_ns)


def _unplanned(evidence: "Evidence") -> Iterator[str]:
    """Kinds that were played and that the plan does not have, where a plan is told."""
    planned = {str(kind.get("name")) for kind in evidence.plan.get("kinds") or ()}
    asked = {o.scenario for o in evidence.opened} | {e.scenario for e in evidence.exchanges}
    played = asked | {i.scenario for i in evidence.iterations}
    return iter(sorted(played - planned) if planned else ())


def _missing(there: Mapping[_Key, Iteration]) -> Iterator[str]:
    """The first of each gap in a kind's numbers, which its node counts up."""
    numbers: dict[tuple[str, str], list[int]] = defaultdict(list)
    for node, kind, number in there:
        numbers[node, kind].append(number)
    for (_, kind), those in numbers.items():
        those.sort()
        yield from (f"{kind} {a + 1}" for a, b in pairwise(those) if b > a + 1)


def _checks(evidence: "Evidence", there: Mapping[_Key, Iteration]) -> Iterator[Disagreement]:
    """Every declared check is told in every iteration, as unknown where it was not reached."""
    made: dict[_Key, set[str]] = defaultdict(set)
    known = {o.id for o in evidence.opened}
    homeless, untimely, unheard = [], [], []
    for check in evidence.checks:
        key = (check.node, check.scenario, check.iteration)
        made[key].add(check.name)
        of = there.get(key)
        if of is None:
            homeless.append(f"{check.name} of {_named(key)}")
        elif not of.started_ns <= check.t_ns <= of.ended_ns:
            untimely.append(f"{check.name} of {_named(key)}")
        unheard += [id for id in check.exchanges if id not in known]
    declared = {k.get("name"): set(k.get("checks") or ()) for k in evidence.plan.get("kinds") or ()}
    absent = [
        f"{sorted(left)[0]} of {_named(key)}"
        for key in there
        if (left := declared.get(key[1], set()) - made.get(key, set()))
    ]
    yield from of_places("checks", absent, "declared check", "not told")
    yield from of_places("checks", untimely, "check", "told outside of the iteration's time")
    yield from of_exchanges("checks", unheard, "looked at by checks and never opened")
    if not crashed(evidence):
        yield from of_places("checks", homeless, "check", "of no iteration that is told")


def _exchanges(evidence: "Evidence", there: Mapping[_Key, Iteration]) -> Iterator[Disagreement]:
    homeless, untimely = [], []
    for exchange in evidence.exchanges:
        of = there.get((exchange.node, exchange.scenario, exchange.iteration))
        if of is None:
            homeless.append(exchange.id)
        elif exchange.due_ns < of.started_ns or exchange.done_ns > of.ended_ns:
            untimely.append(exchange.id)
    yield from of_exchanges("iterations", homeless, "of no iteration that is told")
    yield from of_exchanges("iterations", untimely, "outside of the iteration's time")
