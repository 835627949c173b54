"""Waits that nothing explains: alone and put off shows; whatever a healthy server does is taken off."""

from heapq import heappop, heappush
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.clock import NS
from soakproof.judge.unexplained import Unexplained
from soakproof.records import Exchange
from soakproof.testing.evidence import event, evidence, exchange, opened, sample, trace


def asked(
    id: str,
    at: float,
    wait: float,
    *,
    prompt: float = 0.1,
    made: float = 1.0,
    unseen: float = 0.0,
    **more: Any,
) -> Exchange:
    """A request with its first token after ``wait``; ``made`` are the seconds of generation after it."""
    timings = {"prompt_n": 20, "prompt_ms": prompt * 1000, "predicted_n": 40}
    timings["predicted_ms"] = (made + unseen) * 1000
    took = wait + made
    values = {"seed": sum(map(ord, id)), "timings": timings, **more}
    return exchange(id, at=at, took=took, first=wait / took, **values)


def put_off(**more: Any) -> Exchange:
    return asked("late", 10.0, 20.1, **more)


def waits(*records: Any, **more: Any) -> dict[str, float]:
    run = evidence(asked("before", 1.0, 0.1), *records, duration=100, **more)
    found = Unexplained(run).waits
    return dict(zip(found.exchanges["id"].tolist(), found.seconds.tolist(), strict=True))


def test_a_request_alone_that_waits_for_nothing_shows() -> None:
    assert waits(put_off())["late"] == pytest.approx(20.0)
    assert waits(put_off())["before"] == pytest.approx(0.0)


def cut(id: str, at: float, took: float, **more: Any) -> Exchange:
    """A request that its client left before its first token."""
    values = {"first_token_ns": None, "last_token_ns": None, "cancelled_ns": round((at + took) * NS)}
    return exchange(id, at=at, took=took, **{**values, "cancel_planned": "prefill: after 0.2 s", **more})


def beside(id: str, at: float = 9.0) -> Exchange:
    """A neighbour that generates all the while."""
    return asked(id, at, 0.1, made=30.0)


NEIGHBOUR = asked("long", 9.0, 22.0, prompt=21.9)
EXPLAINED: dict[str, tuple[float, list[Any]]] = {
    "its own prompt": (0, [put_off(prompt=20.0)]),
    "a neighbour's prompt": (0, [put_off(), NEIGHBOUR]),
    "one after the other": (
        1.6,
        [put_off(), asked("one", 9.5, 10.5, prompt=10.5, made=0.4), asked("two", 20.5, 8.4, prompt=8.4)],
    ),
    "a prompt whose client left": (
        0,
        [asked("first", 4.0, 4.0, prompt=4.0), put_off(), cut("left", 9.5, 20)],
    ),
    "hidden reasoning": (0, [put_off(unseen=20.0)]),
    "a queue for the most part": (5.0, [put_off(), beside("a"), asked("b", 9.0, 0.1, made=15.9)]),
    "a queue at the end": (5.0, [put_off(), beside("a"), beside("b", 15.1)]),
    "the tester's lag": (
        0.1,
        [put_off(), sample("tester", 30.0, node="load", loop_lag_max_ms=19900.0)],
    ),
    "it was soon in a slot": (0.5, [put_off(seed=77), sample("slots", 10.5, total=2, busy=1, seeds=[77])]),
}


@pytest.mark.parametrize("why", EXPLAINED)
def test_what_explains_a_wait_is_taken_off(why: str) -> None:
    left, records = EXPLAINED[why]
    assert waits(*records)["late"] == pytest.approx(left, abs=0.15)


UNJUDGED: dict[str, list[Any]] = {
    "as many others as slots": [put_off(), beside("a"), beside("b")],
    "one of unknown end": [put_off(), asked("a", 9.0, 0.1, made=70.0), opened(beside("b"))],
    "unseen answers go on": [
        asked("whole", 2.0, 1.0, made=60.0, stream=False),
        put_off(),
        cut("left", 5.0, 1.0, stream=False, cancel_planned="unstreamed: after 1 s"),
    ],
    "another model": [put_off(), exchange("other", at=9.0, model_asked="other")],
    "another model beside": [put_off(), asked("other", 12.0, 1.0, model_asked="other")],
    "a restart": [put_off(), event("restart", 25.0, role="backend")],
    "a process had gone": [put_off(), event("vanished", 12.0, role="backend")],
    "somebody else": [put_off(), trace("slots", 40, every=2.5, total=2, busy=1, seeds=[4711])],
    "somebody else without a seed": [
        put_off(),
        trace("slots", 40, every=2.5, total=2, busy=1, seeds=[None]),
    ],
    "no times": [put_off(timings=None)],
    "not streamed": [put_off(stream=False)],
    "refused": [put_off(outcome="fail")],
}


@pytest.mark.parametrize("why", UNJUDGED)
def test_where_it_may_have_had_to_queue_nothing_is_said(why: str) -> None:
    assert "late" not in waits(*UNJUDGED[why])


def test_a_server_that_may_have_slept_is_given_its_time() -> None:
    assert "late" not in waits(asked("late", 70.0, 20.0))
    assert "late" in waits(asked("between", 40.0, 1.0), asked("late", 70.0, 20.0))


def test_a_neighbour_that_only_generates_explains_nothing() -> None:
    busy = trace("slots", 40, every=2.5, total=2, busy=1, seeds=[5])
    assert waits(put_off(), beside("a", 9.0))["late"] == pytest.approx(20.0)
    assert waits(put_off(), asked("a", 9.0, 0.1, made=30.0, seed=5), busy[4:])["late"] == pytest.approx(20.0)


def test_of_unknown_slots_only_requests_that_were_alone_are_judged() -> None:
    assert "late" in waits(put_off(), target={"slots": None})
    assert "late" not in waits(put_off(), beside("a"), target={"slots": None})


def served(work: list[tuple[float, float]], slots: int, clients: int) -> list[Exchange]:
    """A healthy server's answers: one prompt after the other, first come first served, generating beside it.

    Each client sends its next request when its last one was answered; those beyond the slots queue.
    """
    sending = [(0.0, n) for n in range(clients)]
    free, engine, made = [0.0] * slots, 0.0, []
    for n, (prompt, generation) in enumerate(work):
        at, client = heappop(sending)
        engine = max(at, engine, heappop(free)) + prompt
        made.append(asked(f"e{n}", at, engine - at, prompt=prompt, made=generation, iteration=n, seed=n))
        heappush(free, engine + generation)
        heappush(sending, (engine + generation, client))
    return made


@settings(max_examples=80)
@given(
    work=st.lists(st.tuples(st.floats(0.01, 30), st.floats(0.01, 20)), min_size=1, max_size=40),
    slots=st.integers(1, 4),
    queued=st.integers(0, 3),
)
def test_a_server_that_begins_whatever_it_can_leaves_nothing_unexplained(
    work: list[tuple[float, float]], slots: int, queued: int
) -> None:
    run = evidence(served(work, slots, slots + queued), target={"slots": slots}, duration=4000)
    assert Unexplained(run).waits.seconds.max(initial=0) < 0.01
