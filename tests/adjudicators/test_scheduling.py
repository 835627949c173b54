"""Scheduling: a lost, a wedged and a starved request fire; queues, long prefills and deaf probes do not."""

from heapq import heappop, heappush
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.judge import Outcome
from soakproof.records import Exchange, Failure, Sample
from soakproof.testing.evidence import adjudicate, evidence, exchange, opened, sample, trace

WELL = trace("health", 100, ok=True, status_code=200)


def idle(seconds: float = 100) -> list[Sample]:
    return trace("slots", seconds, every=2.5, total=2, busy=0, seeds=[], decoded=[])


def busy(*seeds: int, seconds: float = 100) -> list[Sample]:
    return trace("slots", seconds, every=2.5, total=2, busy=len(seeds), seeds=list(seeds))


def unanswered(took: float = 90.0, **more: Any) -> Exchange:
    values = {"outcome": "fail", "failure": Failure.FIRST_TOKEN_TIMEOUT, "seed": 9}
    return exchange("lost", at=1.0, took=took, **{**values, **more})


def test_a_request_that_waits_while_every_slot_is_free_was_lost() -> None:
    found = adjudicate("scheduling", evidence(unanswered(), idle(), WELL, duration=100))["lost"]
    assert found.outcome is Outcome.FAIL
    assert found.exchanges == ("lost",)
    assert "every slot was free" in found.answer
    assert "nor any response headers" in found.answer
    assert "health answered well in 90 of 90" in found.answer


@pytest.mark.parametrize(
    "healthy",
    [
        (unanswered(took=50.0), idle()),  # not yet
        (unanswered(), busy(1, 2)),  # it queues
        (unanswered(stream=False, outcome="ok", failure=None), idle()),
        (unanswered(model_asked="another"), idle()),  # whose slots are elsewhere
        (unanswered(), trace("slots", 5, every=2.5, total=2, busy=0, seeds=[])),  # hardly anything was seen
    ],
    ids=["soon", "queued", "unstreamed", "another model", "unseen"],
)
def test_what_waits_for_a_reason_is_not_lost(healthy: tuple[Any, ...]) -> None:
    run = evidence(*healthy, target={"model": "probe"}, duration=100)
    found = adjudicate("scheduling", run)
    assert {f.outcome for f in found.values()} == {Outcome.PASS}


def test_without_slots_nothing_is_known() -> None:
    for required in (False, True):
        found = adjudicate("scheduling", evidence(unanswered()), required=required)
        assert found["lost"].outcome is Outcome.INCONCLUSIVE
        assert found["lost"].critical is required


def deaf(state: Any = "timeout", seconds: float = 100) -> list[Sample]:
    return [sample("slots", 2.5 * n, state=state, took=2.0) for n in range(int(seconds / 2.5))]


def stalled(**more: Any) -> Exchange:
    token: dict[str, Any] = {"first_token_ns": 10**9, "last_token_ns": 2 * 10**9, "token_events": 7}
    return unanswered(**{"failure": Failure.STALL, **token, **more})


def test_slots_that_never_answer_while_health_does_and_a_stream_stands_still() -> None:
    found = adjudicate("scheduling", evidence(stalled(), deaf(), WELL, duration=100))["wedged"]
    assert found.outcome is Outcome.FAIL
    assert "health answered well" in found.answer
    assert "7 token events, then stall" in found.answer


@pytest.mark.parametrize(
    "healthy",
    [
        (stalled(outcome="ok", failure=None), deaf(), WELL),  # a long batch that came to its end
        (stalled(), deaf(), trace("health", 5, ok=True)),  # the health was deaf as well
        (stalled(), deaf("unsupported"), WELL),
        (stalled(), idle(), WELL),
        (stalled(failure=Failure.RESET), deaf(), WELL),
    ],
    ids=["answered", "health unknown", "no slots", "slots answer", "reset"],
)
def test_deaf_probes_alone_are_no_wedge(healthy: tuple[Any, ...]) -> None:
    assert "wedged" not in adjudicate("scheduling", evidence(*healthy, duration=100))


def served(arrivals: list[tuple[float, float]], slots: int, every: float = 2.5) -> list[Any]:
    """What a server makes of requests, each with its arrival and its work, first come first served."""
    free: list[tuple[float, int]] = [(0.0, n) for n in range(slots)]
    made, at_work = [], []
    for seed, (at, work) in enumerate(arrivals, 100):
        since, slot = heappop(free)
        start = max(at, since)
        heappush(free, (start + work, slot))
        at_work.append((start, start + work, seed))
        took = start + work - at
        first = (start + work / 2 - at) / took
        made.append(exchange(f"e{seed}", at=at, took=took, first=first, seed=seed))
    end = max(until for _, until, _ in at_work)
    looks = []
    for n in range(int(end / every) + 1):
        seeds = [seed for start, until, seed in at_work if start <= n * every < until]
        looks.append(sample("slots", n * every, total=slots, busy=len(seeds), seeds=seeds))
    return [*made, *looks]


@settings(max_examples=30)
@given(
    work=st.lists(st.floats(0.05, 40), min_size=1, max_size=80),
    apart=st.floats(0.01, 3),
    slots=st.integers(1, 4),
)
def test_first_come_first_served_overtakes_nobody(work: list[float], apart: float, slots: int) -> None:
    """Long prompts at work beside many short requests, and queues of any length, are healthy."""
    run = evidence(served([(n * apart, w) for n, w in enumerate(work)], slots), duration=4000)
    assert adjudicate("scheduling", run, overtaken=1)["overtaken"].outcome is Outcome.PASS


@given(others=st.integers(25, 60), slots=st.integers(1, 3), seed=st.integers(1, 10**6))
@settings(max_examples=15)
def test_a_request_that_is_put_back_each_time_starves(others: int, slots: int, seed: int) -> None:
    arrivals = [(0.5 * n, 0.4) for n in range(others)]
    starved = exchange("starved", at=0.01, took=0.5 * others + 2, first=0.99, seed=seed + 10**6)
    run = evidence(starved, served(arrivals, slots), duration=100)
    found = adjudicate("scheduling", run, overtaken=15)["overtaken"]
    assert found.outcome is Outcome.FAIL
    assert found.exchanges == ("starved",)


@pytest.mark.parametrize(
    ("lost", "outcome"),
    [
        ({}, Outcome.FAIL),
        ({"raw": {"exchanges": {"closed": 30}}}, Outcome.FAIL),
        ({"raw": {"exchanges": {"closed": 31}}}, Outcome.PASS),
        ({"problems": ("evidence/load/exchanges.jsonl: line 2 is not a record",)}, Outcome.PASS),
    ],
)
def test_a_request_whose_end_may_be_a_lost_line_waited_for_nothing(
    lost: dict[str, Any], outcome: Outcome
) -> None:
    arrivals = [(0.5 * n, 0.4) for n in range(30)]
    without_end = opened(exchange("x", at=0.01, seed=10**6))
    run = evidence(without_end, served(arrivals, 2), duration=100, **lost)
    assert adjudicate("scheduling", run, overtaken=15)["overtaken"].outcome is outcome
