"""Scheduling: requests put off for nothing fire, and waits that grow with the run; healthy waits do not."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from soakproof.judge import Finding, Outcome
from soakproof.records import Exchange, Sample
from soakproof.testing.evidence import adjudicate, evidence, exchange, trace


def asked(n: int, wait: float) -> Exchange:
    """A request every ten seconds, with its first token after ``wait``, and half a second of answer."""
    took = wait + 0.5
    timings = {"prompt_n": 20, "prompt_ms": 50.0, "predicted_n": 40, "predicted_ms": 500.0}
    return exchange(f"x{n}", at=10.0 * n, took=took, first=wait / took, timings=timings, seed=n)


def judged(*seconds: float, others: Sequence[Sample] = (), **options: Any) -> dict[str, Finding]:
    run = evidence([asked(n, wait) for n, wait in enumerate(seconds)], others, duration=10.0 * len(seconds))
    return adjudicate("scheduling", run, **options)


@pytest.mark.parametrize(
    ("late", "outcome"),
    [
        ([9.5], Outcome.PASS),
        ([15.0], Outcome.INCONCLUSIVE),
        ([15.0, 12.0], Outcome.INCONCLUSIVE),
        ([6.0, 7.0, 8.0], Outcome.INCONCLUSIVE),
        ([3.0, 4.0], Outcome.PASS),
        ([3.0, 4.0, 2.5], Outcome.INCONCLUSIVE),
        ([1.5, 1.6, 1.7], Outcome.PASS),
        ([15.0, 12.0, 25.0], Outcome.FAIL),
    ],
)
def test_requests_that_are_put_off_for_nothing(late: list[float], outcome: Outcome) -> None:
    waits = [wait for at in late for wait in (0.1, 0.1, at, 0.1, 0.1)]
    found = judged(*waits)["waits"]
    assert found.outcome is outcome
    assert len(found.exchanges) == (0 if outcome is Outcome.PASS else len(late))
    assert found.fault == ("server" if outcome is Outcome.FAIL else "")
    if outcome is Outcome.FAIL:
        assert "3 requests waited more than 10 s for a first token although a slot was free" in found.answer
        assert "x12 (long_prose ask), waited 25.0 s, 24.8 s of them for nothing" in found.answer


def test_what_all_requests_wait_and_what_few_of_many_wait_stands_not_out() -> None:
    assert judged(*[0.4, 0.5, 0.6] * 9, 3.0, 3.5, 4.0)["waits"].outcome is Outcome.PASS, "a slow front"
    assert judged(*[0.1] * 400, 3.0, 3.5, 4.0)["waits"].outcome is Outcome.PASS, "hiccups of a long run"
    assert judged(*[0.1] * 200, 3.0, 3.5, 4.0)["waits"].outcome is Outcome.INCONCLUSIVE


def test_every_fourth_request_that_waits_3_s_stands_out() -> None:
    assert judged(*[0.1, 0.1, 0.1, 3.0] * 9)["waits"].outcome is Outcome.INCONCLUSIVE
    assert judged(*[0.1, 0.1, 3.0, 3.0] * 9)["waits"].outcome is Outcome.PASS, "how this server is"


def test_the_bounds_are_the_policys() -> None:
    assert judged(0.1, 3.0, wait="2s", waits=1)["waits"].outcome is Outcome.FAIL
    assert judged(*[0.1] * 5, 15.0, wait="20s")["waits"].outcome is Outcome.PASS


def test_of_a_server_that_tells_no_times_nothing_is_said() -> None:
    found = adjudicate("scheduling", evidence([exchange(f"x{n}", at=10.0 * n, took=50) for n in range(30)]))
    assert set(found) == {"lost"}


NOISE = random.Random(1)
GROWING = {
    "by 20 ms a request": ([0.1 + 0.02 * n for n in range(60)], Outcome.INCONCLUSIVE),
    "by 100 ms a request": ([0.1 + 0.1 * n for n in range(30)], Outcome.FAIL),
    "for an hour": ([0.1 + 0.01 * n for n in range(400)], Outcome.FAIL),
    "with much noise": ([0.1 + 0.1 * n * NOISE.uniform(0.5, 1.5) for n in range(60)], Outcome.FAIL),
    "once": ([0.1] * 30 + [2.5] * 30, Outcome.INCONCLUSIVE),
}


@pytest.mark.parametrize("how", GROWING)
def test_waits_that_grow(how: str) -> None:
    seconds, outcome = GROWING[how]
    found = judged(*seconds)["growing waits"]
    assert found.outcome is outcome, found.answer
    assert found.critical
    told = "rose at some time" if how == "once" else "grow to the end"
    assert told in found.answer


@pytest.mark.parametrize(
    "healthy",
    [
        [2.5] * 30,  # slow, and always
        [NOISE.expovariate(1) for _ in range(200)],
        [0.05] * 30 + [0.4] * 30,  # a prompt cache that is full
        [0.1] * 20 + [4.0] * 3 + [0.1] * 40,
    ],
    ids=["slow", "noise", "little", "a spell"],
)
def test_waits_that_do_not_grow(healthy: list[float]) -> None:
    assert judged(*healthy)["growing waits"].outcome is Outcome.PASS


def test_a_host_that_became_busy_is_told_and_does_not_convict() -> None:
    pressure = trace("psi", 300, every=10, cpu_some_avg10_percent=lambda at: at / 5)
    found = judged(*(0.1 + 0.1 * n for n in range(30)), others=pressure)["growing waits"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "waited for a processor" in found.answer


def test_of_a_few_requests_no_growth_is_told() -> None:
    found = judged(*[0.1] * 9)["growing waits"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not found.critical
