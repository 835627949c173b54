"""Open files and threads: what climbs to the end is a leak; pools, steps, noise and more users are none."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge.climb import climb

Count = Callable[[float], float]


def trace(count: Count, seconds: int = 1800) -> tuple[list[float], list[float]]:
    """A count read each second, with requests that come and go in it."""
    chance = random.Random(4)
    times = [float(t) for t in range(seconds)]
    return times, [round(count(t)) + chance.randint(0, 6) for t in times]


@pytest.mark.parametrize("seconds", [20, 300, 1800])
@pytest.mark.parametrize("amount", [40, 400])
def test_a_climb_to_the_end_is_found_in_any_time(seconds: int, amount: int) -> None:
    found = climb(*trace(lambda t: 20 + amount * t / seconds, seconds), 16)
    assert found.answer == "climbs"
    assert found.amount >= 16


HEALTHY: dict[str, Count] = {
    "level": lambda t: 20,
    "a pool that fills": lambda t: 20 + min(t / 10, 60),
    "one step": lambda t: 20 if t < 900 else 300,
    "two steps": lambda t: 20 + 30 * (t > 600) + 30 * (t > 1200),
    "comes and goes": lambda t: 20 + (40 if t % 300 < 150 else 0),
    "falls": lambda t: 400 - t / 10,
    "warms up": lambda t: min(20 + t, 150),
    "a pool that fills slowly to its end": lambda t: 20 + 100 * min(1.0, t / 1300),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_what_comes_to_rest_or_goes_back_is_none(name: str) -> None:
    assert climb(*trace(HEALTHY[name]), 16).answer == "level"


def test_more_requests_in_flight_are_no_leak() -> None:
    times, counts = trace(lambda t: 20 + 2 * (t // 60))
    users = [t // 60 for t in times]
    assert climb(times, counts, 16, users).answer == "level"
    assert climb(times, counts, 16).answer == "climbs"


def test_a_slight_climb_without_a_pause_is_unclear() -> None:
    times = [float(t) for t in range(1800)]
    assert climb(times, [20 + t // 150 for t in times], 16).answer == "unclear"


def test_too_few_readings_tell_nothing() -> None:
    assert climb([], [], 16).answer == "short"
    assert climb([float(t) for t in range(8)], [100.0 * t for t in range(8)], 16).answer == "short"
    assert climb([5.0] * 40, [float(n) for n in range(40)], 16).answer == "short"


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(0, 1e6)), max_size=60))
def test_any_trace_is_judged(points: list[tuple[float, float]]) -> None:
    points.sort()
    found = climb([t for t, _ in points], [v for _, v in points], 16)
    assert found.answer != "climbs" or found.amount >= 16
