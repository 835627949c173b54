"""Failures by slot: one bad slot of several is named, chance is not, and what was not seen is not placed."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from soakproof.judge import Evidence, Finding, Outcome
from soakproof.judge.placement import Placement, tail
from soakproof.records import Check, Exchange, Failure, Record, Sample
from soakproof.testing.evidence import adjudicate, check, evidence, exchange, sample


def served(n: int, slots: int = 2, bad: frozenset[int] = frozenset(), ids: bool = True) -> list[Record]:
    """Answers side by side in all slots, each seen at work once; those in ``bad`` slots are wrong."""
    records: list[Record] = []
    for turn in range(n):
        at, seeds = 5.0 * turn, [turn * slots + slot for slot in range(slots)]
        more: dict[str, Any] = {"ids": list(range(slots))} if ids else {}
        records.append(sample("slots", at + 2, total=slots, busy=slots, seeds=seeds, **more))
        for slot, seed in enumerate(seeds):
            records.append(exchange(f"x{seed}", at=at, took=4.0, seed=seed, iteration=seed))
            wrong = "fail" if slot in bad else "pass"
            records.append(check("echo.exact", wrong, iteration=seed, exchanges=(f"x{seed}",)))
    return records


def judged(*records: object) -> dict[str, Finding]:
    return adjudicate("slots", evidence(*records, duration=600.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("slots", [2, 4])
def test_one_bad_slot_is_named(slots: int, ids: bool) -> None:
    found = judged(served(20, slots, frozenset({1}), ids))["one slot"]
    assert (found.outcome, found.critical, found.fault) == (Outcome.FAIL, True, "backend")
    assert found.answer == (
        "20 of 20 failures that could be placed came from slot 1, which served 20; "
        f"the others served {20 * (slots - 1)} without one."
    )
    assert "hypergeometric, exact" in found.strength
    assert "x1" in found.exchanges


def test_five_of_five_from_one_slot_are_enough_and_two_are_not() -> None:
    good = served(40)
    five = [check("echo.exact", "fail", iteration=n, exchanges=(f"x{2 * n + 1}",)) for n in range(8)]
    assert judged(good, five)["one slot"].outcome is Outcome.FAIL
    few = judged(good, five[:2])["one slot"]
    assert (few.outcome, few.critical) == (Outcome.PASS, False)
    assert few.answer.endswith("no slot stands out.")


def test_failures_in_every_slot_are_no_cluster() -> None:
    found = judged(served(20, 2, frozenset({0, 1})))["one slot"]
    assert (found.outcome, found.critical) == (Outcome.PASS, False)


def test_failed_exchanges_count_and_those_of_our_own_fault_do_not() -> None:
    def failed(failure: Failure) -> list[Record]:
        return [
            exchange(r.id, at=5.0, took=4.0, seed=r.seed, outcome="fail", failure=failure)
            if isinstance(r, Exchange) and r.seed % 2
            else r
            for r in served(20)
        ]

    assert judged(failed(Failure.RESET))["one slot"].outcome is Outcome.FAIL
    assert "one slot" not in judged(failed(Failure.CONFIGURATION))


def test_without_failures_or_with_one_slot_nothing_is_said() -> None:
    assert "one slot" not in judged(served(20))
    assert "one slot" not in judged(served(20, 1, frozenset({0})))


def test_what_was_not_seen_or_seen_in_two_slots_is_not_placed() -> None:
    twice = sample("slots", 3.0, total=2, busy=2, ids=[0, 1], seeds=[1, 0])
    some = sample("slots", 9.0, total=2, busy=1, seeds=[77])
    unseen = exchange("unseen", at=8.0, seed=77)
    placed = Placement(evidence(served(3), twice, some, unseen)).slots
    assert "x0" not in placed
    assert "unseen" not in placed
    assert placed["x3"] == 1


def test_functional_findings_tell_where_failures_came_from() -> None:
    found = adjudicate("functional", evidence(served(10, 2, frozenset({1})), duration=600.0))
    assert found["echo.exact"].strength == "of 10 failures 10 could be placed: 10 from slot 1"


@given(st.integers(1, 40), st.data())
def test_the_chance_is_exact(n: int, data: st.DataObject) -> None:
    bad, drawn = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    k = data.draw(st.integers(0, min(bad, drawn)))
    ways = sum(Fraction(math.comb(bad, i) * math.comb(n - bad, drawn - i)) for i in range(k, drawn + 1))
    assert tail(k, bad, drawn, n) == pytest.approx(float(ways / math.comb(n, drawn)))
    assert tail(k, bad, drawn, n) == pytest.approx(float(hypergeom.sf(k - 1, n, bad, drawn)), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=60))
def test_a_slot_is_called_bad_by_chance_only_as_seldom_as_it_says(turns: list[tuple[int, bool]]) -> None:
    """Whatever failed where: all that is placed is counted, and the slot named has the highest share."""
    run: list[Sample | Exchange | Check] = []
    for n, (slot, bad) in enumerate(turns):
        run.append(sample("slots", 5.0 * n + 1, total=6, busy=1, ids=[slot], seeds=[n]))
        run.append(exchange(f"x{n}", at=5.0 * n, took=4.0, seed=n, iteration=n))
        run.append(check("c", "fail" if bad else "pass", iteration=n, exchanges=(f"x{n}",)))
    cluster = Placement(of(run)).cluster()
    if cluster is not None:
        mine = [bad for slot, bad in turns if slot == cluster.slot]
        assert (cluster.failed, cluster.served) == (sum(mine), len(mine))
        assert cluster.all_served == len(turns)
        assert 0 < cluster.chance <= 1


def of(records: list[Any]) -> Evidence:
    return evidence(records, duration=1000.0)
