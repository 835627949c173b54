"""Statistics of comparisons: against scipy, against every arrangement, and against small simulations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from soakproof.judge.statistics import (
    Stratum,
    hodges_lehmann_ratio,
    holm,
    mann_whitney,
    stratified_p,
    stratified_ratio,
)

values = st.lists(st.floats(1.0, 1000.0), min_size=1, max_size=6, unique=True)


@given(values, values)
@settings(max_examples=30)
def test_of_one_stratum_it_is_the_ratio_and_the_test_that_are_known(a: list[float], b: list[float]) -> None:
    assert stratified_ratio([(a, b)]) == pytest.approx(hodges_lehmann_ratio(a, b))
    assert stratified_p([(a, b)]) == mann_whitney(a, b)


def test_of_one_stratum_it_is_scipys_p() -> None:
    a, b = [12.1, 12.4, 11.9, 12.8, 12.0], [11.8, 11.7, 12.05, 11.6, 11.95]
    assert stratified_p([(a, b)]) == pytest.approx(mannwhitneyu(a, b, method="exact").pvalue)


def test_of_two_strata_it_is_every_arrangement_within_each() -> None:
    strata: list[Stratum] = [([5.0, 6.0, 9.0], [1.0, 7.0]), ([30.0, 50.0], [10.0, 20.0, 40.0])]
    sums = [0]
    for a, b in strata:
        pooled = sorted([*a, *b])
        counts = [
            sum(x > y for x in chosen for y in pooled if y not in chosen)
            for chosen in itertools.combinations(pooled, len(a))
        ]
        sums = [one + more for one in sums for more in counts]
    seen = sum(x > y for a, b in strata for x in a for y in b)
    middle = sum(len(a) * len(b) for a, b in strata) / 2
    assert stratified_p(strata) == pytest.approx(
        np.mean([abs(s - middle) >= abs(seen - middle) for s in sums])
    )


def test_many_pairs_give_what_few_would() -> None:
    """Beyond the pairs that are counted one by one, the approximation takes over without a jump."""
    draw = np.random.default_rng(5)
    one: list[Stratum] = [(list(draw.lognormal(0, 0.1, 49)), list(draw.lognormal(0.02, 0.1, 51)))]
    both: list[Stratum] = [*one, ([1.0], [1.01]), ([1.0], [0.99])]
    assert stratified_p(both) == pytest.approx(stratified_p(one), abs=0.03)
    assert stratified_ratio(both)[1:] == pytest.approx(stratified_ratio(one)[1:], rel=0.01)


def test_strata_of_single_values_are_the_sign_test() -> None:
    strata: list[Stratum] = [([10.0 + n], [9.0 + n]) for n in range(6)]
    assert stratified_p(strata) == pytest.approx(2 / 2**6)
    assert stratified_ratio(strata).low > 1
    assert stratified_ratio(strata[:5])[1:] == (0.0, math.inf)


def test_no_stratum_and_no_value_are_refused() -> None:
    for wrong in ([], [([], [1.0])], [([0.0], [1.0])]):
        with pytest.raises(ValueError, match="needs"):
            stratified_ratio(wrong)


def test_holm_is_the_step_down_that_is_known() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=15)
def test_holm_lies_between_the_p_values_and_bonferronis(p_values: list[float]) -> None:
    for p, adjusted in zip(p_values, holm(p_values), strict=True):
        assert p <= adjusted <= min(1.0, len(p_values) * p) + 1e-12


def test_the_interval_over_strata_covers_as_often_as_it_says() -> None:
    """Lengths with levels of their own, mixed unevenly in both arms, and a true ratio of 1.1."""
    draw = np.random.default_rng(1)
    covered = 0
    for _ in range(300):
        strata = [
            (list(1.1 * level * draw.lognormal(0, 0.05, n)), list(level * draw.lognormal(0, 0.05, m)))
            for level, n, m in ((1, 4, 2), (10, 2, 5), (40, 3, 3))
        ]
        ratio = stratified_ratio(strata)
        covered += ratio.low <= 1.1 <= ratio.high
    assert covered >= 0.93 * 300
