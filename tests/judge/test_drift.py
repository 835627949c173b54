"""Drift: a slow decay is found; noise, warm-up, steps, other loads and other lengths are not called one.

The seeds are fixed: each test repeats a part of the simulation that the rule was chosen by.
"""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge.drift import Rate, drift

HALF_AN_HOUR = 1800.0
Level = Callable[[float], float]  # of the logarithm


def noise(n: int, spread: float, likeness: float, chance: np.random.Generator) -> list[float]:
    """Noise in which neighbours resemble each other."""
    found = [float(chance.normal(0, spread))]
    for step in chance.normal(0, spread * math.sqrt(1 - likeness**2), n - 1):
        found.append(likeness * found[-1] + float(step))
    return found


def answers(
    level: Level,
    seed: int,
    n: int = 60,
    spread: float = 0.03,
    likeness: float = 0.0,
    seconds: float = HALF_AN_HOUR,
    alike: Callable[[float], object] = lambda t: 0,
) -> Counter[str]:
    chance = np.random.default_rng(seed)
    times = sorted(chance.uniform(0, seconds, n))
    around = noise(n, spread, likeness, chance)
    rates = [Rate(t, 40 * math.exp(level(t) + e), (alike(t),)) for t, e in zip(times, around, strict=True)]
    return Counter([drift(rates, 0.10, 300).answer])


def trials(level: Level, count: int = 60, **more: object) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in range(count):
        found += answers(level, seed, **more)  # type: ignore[arg-type]
    return found


def one_percent_a_minute(t: float) -> float:
    return math.log(1 - 0.01 * t / 60)


@pytest.mark.parametrize(("n", "spread", "least"), [(30, 0.02, 59), (60, 0.03, 58), (100, 0.05, 55)])
def test_one_percent_a_minute_is_found_in_half_an_hour(n: int, spread: float, least: int) -> None:
    found = trials(one_percent_a_minute, n=n, spread=spread)
    assert found["slower"] >= least, found


HEALTHY: dict[str, Level] = {
    "level": lambda t: 0.0,
    "faster": lambda t: 0.2 * t / HALF_AN_HOUR,
    "a little slower": lambda t: -0.05 * t / HALF_AN_HOUR,
    "warms up": lambda t: -0.35 * min(t / 300, 1),
    "one step": lambda t: -0.35 * (t > 900),
    "a neighbour for a third of the time": lambda t: -0.5 * (600 < t < 1200),
    "comes and goes": lambda t: 0.1 * math.sin(t / 90),
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("spread", [0.02, 0.08])
def test_what_is_no_steady_fall_never_fails(name: str, spread: float) -> None:
    assert trials(HEALTHY[name], spread=spread)["slower"] == 0


@pytest.mark.parametrize(("likeness", "spread"), [(0.9, 0.05), (0.9, 0.1), (0.99, 0.05)])
def test_noise_that_wanders_is_seldom_taken_for_a_fall(likeness: float, spread: float) -> None:
    assert trials(lambda t: 0.0, likeness=likeness, spread=spread)["slower"] <= 1


def test_two_steps_are_told_as_steps() -> None:
    found = trials(lambda t: -0.2 * (t > 600) - 0.2 * (t > 1200), n=100)
    assert found["slower"] == 0
    assert found["steps"] >= 55


def test_a_fall_that_ended_is_told_as_that() -> None:
    found = trials(lambda t: -0.4 * min(t / 900, 1), n=100)
    assert found["slower"] <= 1


@pytest.mark.parametrize("lengths", [2, 5])
def test_other_loads_and_lengths_are_not_compared(lengths: int) -> None:
    """Twice the load from the middle on, and ever longer answers: slower, and none of it drift."""
    load = trials(lambda t: -0.7 * (t > 900), alike=lambda t: t > 900)
    assert load["slower"] == 0
    length = trials(
        lambda t: -0.2 * int(t * lengths / HALF_AN_HOUR), alike=lambda t: int(t * lengths / HALF_AN_HOUR)
    )
    assert length["slower"] == 0


def test_a_fall_is_found_within_each_of_several_lengths() -> None:
    """Their own rates differ by more than the fall."""
    n, found = 0, Counter[str]()
    for seed in range(20):
        chance = np.random.default_rng(seed)
        rates = []
        for t in sorted(chance.uniform(0, HALF_AN_HOUR, 90)):
            n += 1
            log = one_percent_a_minute(t) - 0.5 * (n % 3) + chance.normal(0, 0.02)
            rates.append(Rate(t, 40 * math.exp(log), (n % 3,)))
        found[drift(rates, 0.10, 300).answer] += 1
    assert found["slower"] >= 19


def test_too_few_and_too_short_tell_nothing() -> None:
    assert drift([], 0.1, 300).answer == "short"
    assert answers(one_percent_a_minute, 1, n=8)["short"]
    assert answers(lambda t: -0.01 * t, 1, seconds=200.0)["short"]
    few_of_each = answers(one_percent_a_minute, 1, n=40, alike=lambda t: t)
    assert few_of_each["short"]


def test_the_change_is_told_over_the_time_that_was_compared() -> None:
    found = drift([Rate(60.0 * n, 40 * math.exp(-0.01 * n), ()) for n in range(31)], 0.1, 300)
    assert found.answer == "slower"
    assert found.change is not None
    assert found.change.estimate == pytest.approx(math.expm1(-0.27), abs=0.001)
    assert found.seconds == pytest.approx(27 * 60)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e9), st.integers(0, 2)), max_size=40))
def test_any_rates_are_judged(points: list[tuple[float, float, int]]) -> None:
    found = drift([Rate(t, rate, (group,)) for t, rate, group in points], 0.1, 300)
    if found.change is not None:
        assert found.change.low <= found.change.estimate <= found.change.high
