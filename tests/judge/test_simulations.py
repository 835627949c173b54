"""Small, seeded repeats of the simulations that defaults depend on; each bound leaves room to spare."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from scipy.signal import lfilter

from soakproof.judge.statistics import Floats, hodges_lehmann_ratio, mann_whitney
from soakproof.judge.trend import early_late, leak

PER_HOUR = 100.0  # MiB; the bound that the leak rule is asked about
TRIALS = 40


def noisy(hours: float, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """A level of 5,000 MiB every 10 s, with noise that wanders and what requests hold for a while."""
    times = np.arange(0, hours * 3600 + 1, 10)
    wander = lfilter([1], [1, -0.9], draw.normal(0, 13, len(times)))
    return times, 5000 + wander + 80 * draw.random(len(times))


def flat(times: Floats, draw: np.random.Generator) -> Floats:
    return np.zeros(len(times))


def leaking(rate: float) -> Callable[[Floats, np.random.Generator], Floats]:
    return lambda times, draw: rate * times / 3600


def filling(times: Floats, draw: np.random.Generator) -> Floats:
    """A cache that fills to 4,000 MiB in the first fifth of the run."""
    return np.minimum(4000, 4000 * times / (0.2 * times[-1]))


def stepping(times: Floats, draw: np.random.Generator) -> Floats:
    return np.where(times > draw.uniform(0.3, 0.9) * times[-1], 500.0, 0.0)


def answers(hours: float, shape: Callable[[Floats, np.random.Generator], Floats]) -> Counter[str]:
    draw = np.random.default_rng(20260901)
    found: Counter[str] = Counter()
    for _ in range(TRIALS):
        times, level = noisy(hours, draw)
        found[leak(list(times), list(level + shape(times, draw)), PER_HOUR).answer] += 1
    return found


@pytest.mark.parametrize("hours", [2, 6])
def test_noise_is_never_called_a_leak(hours: float) -> None:
    found = answers(hours, flat)
    assert found["leak"] == 0
    assert found["none"] >= 0.9 * TRIALS


@pytest.mark.parametrize("hours", [2, 6])
def test_a_leak_of_four_times_the_bound_is_found(hours: float) -> None:
    assert answers(hours, leaking(400))["leak"] == TRIALS


def test_a_leak_just_above_the_bound_is_found_in_six_hours_and_never_called_none() -> None:
    assert answers(6, leaking(150))["leak"] >= 0.9 * TRIALS
    assert answers(2, leaking(150))["none"] <= 0.1 * TRIALS


@pytest.mark.parametrize("hours", [2, 6])
@pytest.mark.parametrize("shape", [filling, stepping])
def test_a_cache_that_fills_and_a_single_step_are_never_called_a_leak(
    hours: float, shape: Callable[[Floats, np.random.Generator], Floats]
) -> None:
    assert answers(hours, shape)["leak"] == 0


def test_what_fills_during_the_warm_up_is_left_out() -> None:
    assert answers(2, filling)["none"] >= 0.8 * TRIALS


def test_one_step_is_told_with_its_size_and_time() -> None:
    draw = np.random.default_rng(3)
    times, level = noisy(2, draw)
    found = leak(list(times), list(level + np.where(times > 5400, 500.0, 0.0)), PER_HOUR)
    assert found.answer == "unclear"
    assert found.step == pytest.approx(500, abs=60)
    assert found.step_at == pytest.approx(5400, abs=600)
    steady = leak(list(times), list(level + 400 * times / 3600), PER_HOUR)
    assert steady.step is None


def test_half_an_hour_gives_no_answer_either_way() -> None:
    assert answers(0.5, leaking(2000)) == answers(0.5, flat) == {"short": TRIALS}


def test_early_against_late_describes_growth_and_whether_it_goes_on() -> None:
    times = [float(t) for t in range(1800)]
    grows = early_late(times, [1000 + t for t in times], flat=64)
    settled = early_late(times, [1000 + min(t, 900) for t in times], flat=64)
    assert grows is not None
    assert grows.rising
    assert grows.amount == pytest.approx(1200, abs=2)
    assert settled is not None
    assert not settled.rising
    assert settled.peak == 1900


def rates(draw: np.random.Generator, n: int, mean: float, variation: float) -> list[float]:
    return [float(x) for x in draw.normal(mean, variation * mean, n)]


def power(n: int, drop: float, variation: float = 0.02) -> float:
    """How often a drop is significant at 5 %."""
    draw = np.random.default_rng(7)
    found = [
        mann_whitney(rates(draw, n, 12 * (1 - drop), variation), rates(draw, n, 12, variation)) < 0.05
        for _ in range(200)
    ]
    return float(np.mean(found))


def test_three_repeats_see_no_drop_five_see_most_and_eight_nearly_all() -> None:
    assert power(3, 0.05) == 0.0
    assert power(5, 0.05) > 0.7
    assert power(8, 0.05) > 0.95
    assert power(5, 0.0) <= 0.08  # no more false alarms than were asked for


def test_the_ratios_interval_covers_as_often_as_it_says() -> None:
    draw = np.random.default_rng(11)
    covered = 0
    for _ in range(200):
        found = hodges_lehmann_ratio(rates(draw, 5, 12, 0.02), rates(draw, 5, 12, 0.02))
        covered += found.low <= 1 <= found.high
    assert covered >= 0.93 * 200
