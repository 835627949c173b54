"""Case 59: the rate decays over hours at constant occupancy; longer contexts or more clients are no decay."""

import json
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.clock import nanoseconds
from soakproof.judge import Finding, Outcome
from soakproof.records import Exchange
from soakproof.testing.evidence import adjudicate, evidence, exchange

HOURS = [json.loads(line) for line in (INPUTS / "59-slow-decay.jsonl").read_text().splitlines()]
HOUR = 3600.0


def answered(at: float, rate: float, slot: int, tokens: int = 512, context: int = 2000) -> Exchange:
    """An answer that was generated at ``rate``, told by the server's own clock and by ours."""
    took = tokens / rate
    return exchange(
        f"x{at:.0f}-{slot}",
        at=at,
        took=took + 1,
        first=1 / (took + 1),
        iteration=round(at) * 10 + slot,
        max_tokens=tokens,
        prompt_tokens=context,
        completion_tokens=tokens,
        token_events=tokens - 1,
        timings={"predicted_n": tokens, "predicted_ms": 1000 * took, "prompt_n": context, "prompt_ms": 900.0},
        first_token_ns=nanoseconds(at + 1),
    )


def judged(run: list[Exchange], hours: float, slots: int = 8, **options: Any) -> Finding:
    made = evidence(run, duration=hours * HOUR, target={"slots": slots})
    return adjudicate("throughput", made, **options)["long_prose drift"]


def replayed(rates: list[float], slots: int = 8, every: float = HOUR / 2) -> list[Exchange]:
    """All slots answer at once, twice an hour, at each hour's rate."""
    return [
        answered(hour * HOUR + part * every, rate, slot)
        for hour, rate in enumerate(rates)
        for part in range(round(HOUR / every))
        for slot in range(slots)
    ]


@pytest.mark.case(59)
def test_the_reported_decay_fails_though_every_answer_is_right() -> None:
    occupied = {hour["occupied_slots"] for hour in HOURS}
    assert occupied == {8}
    found = judged(replayed([hour["tok_s_per_slot"] for hour in HOURS]), len(HOURS))
    assert (found.outcome, found.fault) == (Outcome.FAIL, "backend")
    assert "slower and slower" in found.answer
    assert found.critical


@pytest.mark.case(59)
def test_its_healthy_hours_alone_do_not() -> None:
    healthy = [hour["tok_s_per_slot"] for hour in HOURS if hour["t_h"] <= 6]
    assert judged(replayed(healthy), len(healthy)).outcome is Outcome.PASS


@pytest.mark.case(59)
@settings(max_examples=25)
@given(st.integers(8, 20), st.integers(1, 8), st.floats(0.7, 0.97), st.floats(0.6, 50), st.integers(0, 4))
def test_any_such_decay_does(hours: int, slots: int, each_hour: float, last: float, healthy: int) -> None:
    """Whatever the rates, the slots, and the hours before it begins; an answer ends before the next."""
    first = last / each_hour ** (hours - 1)
    rates = [first] * healthy + [first * each_hour**n for n in range(1, hours)]
    found = judged(replayed(rates, slots, every=HOUR / 4), len(rates), slots, drift="10 %")
    assert (found.outcome is Outcome.FAIL) or each_hour ** (hours - 1) > 0.75


@pytest.mark.case(59)
@settings(max_examples=25)
@given(st.integers(1000, 4000), st.floats(1.2, 3.0))
def test_longer_contexts_from_hour_to_hour_are_no_decay(context: int, grows: float) -> None:
    """The rate falls as the context grows, and nothing else changes."""
    run = []
    for hour in range(8):
        size = round(context * (1 + (grows - 1) * (hour // 2)))
        run += [answered(hour * HOUR + n * 300, 40 / (1 + size / 8000), 0, context=size) for n in range(8)]
    assert judged(run, 8).outcome is not Outcome.FAIL


@pytest.mark.case(59)
@settings(max_examples=25)
@given(st.lists(st.integers(1, 8), min_size=8, max_size=8))
def test_more_clients_from_hour_to_hour_are_no_decay(clients: list[int]) -> None:
    """As many share the rate; in ascending order it falls from beginning to end."""
    run = []
    for hour, n in enumerate(sorted(clients)):
        for part in range(8):
            run += [answered(hour * HOUR + part * 400, 40 / n, client) for client in range(n)]
    assert judged(run, 8).outcome is not Outcome.FAIL
