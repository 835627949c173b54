"""Exactness of the statistics: against scipy, against brute force, and against what few values can carry."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from soakproof.judge.statistics import (
    _rank_distribution,
    hodges_lehmann_ratio,
    mann_whitney,
)

rates = st.lists(st.floats(1.0, 1000.0), min_size=1, max_size=8)


@pytest.mark.parametrize(("n", "least"), [(3, 0.10), (4, 0.0286), (5, 0.0079)])
def test_few_repeats_cannot_go_below_their_least_p(n: int, least: float) -> None:
    worst = mann_whitney([1.0 + k for k in range(n)], [100.0 + k for k in range(n)])
    assert worst == pytest.approx(least, abs=5e-4)


def test_mann_whitney_is_scipys_exact_test_without_ties() -> None:
    a, b = [12.1, 12.4, 11.9, 12.8, 12.0, 12.3], [11.8, 11.7, 12.05, 11.6, 11.95]
    assert mann_whitney(a, b) == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue)


def test_mann_whitney_with_ties_counts_every_split() -> None:
    a, b = [1.0, 2.0, 2.0], [2.0, 3.0, 4.0]
    pooled = np.array(a + b)
    u = [
        sum((x > y) + (x == y) / 2 for x in pooled[list(c)] for y in np.delete(pooled, list(c)))
        for c in itertools.combinations(range(6), 3)
    ]
    far = abs(u[0] - 4.5)
    assert mann_whitney(a, b) == pytest.approx(np.mean([abs(x - 4.5) >= far for x in u]))


def test_identical_arms_have_p_of_one_and_an_empty_arm_has_none() -> None:
    assert mann_whitney([5.0] * 5, [5.0] * 5) == 1.0
    with pytest.raises(ValueError, match="at least one value"):
        mann_whitney([], [1.0])


@given(rates, rates)
@settings(max_examples=25)
def test_mann_whitney_does_not_care_which_arm_is_first(a: list[float], b: list[float]) -> None:
    assert mann_whitney(a, b) == pytest.approx(mann_whitney(b, a))
    assert 0 < mann_whitney(a, b) <= 1


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (4, 4), (5, 3)])
def test_the_rank_distribution_is_that_of_every_arrangement(n: int, m: int) -> None:
    counts = np.zeros(n * m + 1)
    for places in itertools.combinations(range(n + m), n):
        counts[sum(places) - n * (n - 1) // 2] += 1
    assert _rank_distribution(n, m) == pytest.approx(counts / counts.sum())


def test_three_against_three_carries_no_interval() -> None:
    ratio = hodges_lehmann_ratio([12.2, 12.29, 12.4], [11.8, 11.86, 11.9])
    assert ratio.estimate == pytest.approx(1.036, abs=0.002)
    assert (ratio.low, ratio.high) == (0.0, math.inf)


def test_five_against_five_has_the_textbook_interval() -> None:
    a, b = [2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 3.0, 5.0, 7.0, 9.0]
    ratio = hodges_lehmann_ratio(a, b)
    ordered = sorted(x / y for x in a for y in b)
    # Table of the 95 % interval for 5 and 5: the third smallest to the third greatest ratio.
    assert (ratio.low, ratio.high) == (pytest.approx(ordered[2]), pytest.approx(ordered[-3]))
    assert ratio.estimate == pytest.approx(ordered[12])


@given(rates, rates)
@settings(max_examples=50)
def test_the_ratio_lies_in_its_interval_and_turns_over_with_the_arms(a: list[float], b: list[float]) -> None:
    there, back = hodges_lehmann_ratio(a, b), hodges_lehmann_ratio(b, a)
    assert there.low <= there.estimate * (1 + 1e-9)
    assert there.estimate <= there.high * (1 + 1e-9)
    assert there.estimate * back.estimate == pytest.approx(1)
    if there.low:
        assert there.low * back.high == pytest.approx(1)


def test_a_rate_of_zero_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="above 0"):
        hodges_lehmann_ratio([0.0, 1.0], [1.0, 2.0])
