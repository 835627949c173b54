"""The statistics that verdicts rest on: exact where samples are few, silent where they carry nothing.

Pure functions of numbers, no I/O. scipy is loaded when first needed, so that importing this stays cheap.
tests/judge/test_simulations.py repeats the simulations that the defaults were chosen by.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

INFERENCE_FROM = 5  # repeats an arm; with fewer, medians and ranges only describe
_EXACT_TO = 100  # values an arm up to which the rank distribution is counted exactly
_PAIRS_TO = 2500  # pairs of values up to which the distribution over several strata is

Floats = NDArray[np.float64]
Stratum = tuple[Sequence[float], Sequence[float]]  # two arms' values that are alike, none of them empty
T = TypeVar("T")


class Interval(NamedTuple):
    """An estimate and its confidence interval, all in the estimate's unit."""

    estimate: float
    low: float
    high: float


def thinned(values: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of them, evenly from first to last: comparing all with all grows with the square."""
    return values if len(values) <= most else [values[i * len(values) // most] for i in range(most)]


def mann_whitney(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p-value that both arms come from one distribution: exact up to 100 values an arm.

    Ties are counted half and judged exactly by permutation where that is feasible, else by the normal
    approximation with its correction for ties. Raises ValueError for an empty arm: no data is no test.
    """
    if not a or not b:
        raise ValueError("Mann-Whitney needs at least one value in each arm")
    from scipy.stats import mannwhitneyu

    tied = len(set(a) | set(b)) < len(a) + len(b)
    if tied and math.comb(len(a) + len(b), len(a)) <= 20_000:
        return _permutation_p(np.asarray(a, float), np.asarray(b, float))
    exact = not tied and max(len(a), len(b)) <= _EXACT_TO
    return float(
        mannwhitneyu(a, b, alternative="two-sided", method="exact" if exact else "asymptotic").pvalue
    )


def _permutation_p(a: Floats, b: Floats) -> float:
    """The share of all ways to split the pooled ranks that lie at least as far from the middle."""
    from itertools import combinations

    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([a, b]))
    middle = ranks.mean() * len(a)
    far = abs(ranks[: len(a)].sum() - middle)
    sums = np.array([ranks[list(c)].sum() for c in combinations(range(len(ranks)), len(a))])
    return float((np.abs(sums - middle) >= far - 1e-9).mean())


def hodges_lehmann_ratio(a: Sequence[float], b: Sequence[float], confidence: float = 0.95) -> Interval:
    """How many times ``b`` the arm ``a`` is: the median of all pairwise ratios, with its exact interval.

    The interval is made of two of the ordered ratios, as the Mann-Whitney distribution says; where the arms
    are too small for the confidence (3 against 3 for 95 %) it is 0 to infinity, which lies inside no margin.
    Raises ValueError for an empty arm or a value that is not above 0.
    """
    if not a or not b:
        raise ValueError("a ratio needs at least one value in each arm")
    if min(*a, *b) <= 0:
        raise ValueError("a ratio needs values above 0")
    logs = np.sort(np.subtract.outer(np.log(np.asarray(a, float)), np.log(np.asarray(b, float))).ravel())
    drop = _dropped(len(a), len(b), confidence)
    estimate = float(np.exp(np.median(logs)))
    if drop is None:
        return Interval(estimate, 0.0, math.inf)
    return Interval(estimate, float(np.exp(logs[drop])), float(np.exp(logs[-1 - drop])))


def _dropped(n: int, m: int, confidence: float) -> int | None:
    """How many of the ordered ratios lie outside the interval at each end; None: it cannot be had."""
    tail = (1 - confidence) / 2
    if max(n, m) > _EXACT_TO:
        from scipy.stats import norm

        spread = math.sqrt(n * m * (n + m + 1) / 12)
        return max(0, math.floor(n * m / 2 + float(norm.ppf(tail)) * spread) - 1)
    below = np.cumsum(_rank_distribution(n, m))
    # The interval from the k-th smallest to the k-th greatest misses with probability 2 P(U <= k - 1).
    return int(np.searchsorted(below, tail, side="right")) - 1 if below[0] <= tail else None


@lru_cache(maxsize=64)
def _rank_distribution(n: int, m: int) -> Floats:
    """P(U = u) for u = 0 … n m without ties, counted by adding one value at a time."""
    columns = [np.zeros(n * m + 1) for _ in range(m + 1)]
    for column in columns:
        column[0] = 1.0
    for rows in range(1, n + 1):
        for count in range(1, m + 1):
            # The greatest of all is either of the first arm (and above ``count`` values) or of the second.
            of_first = np.zeros(n * m + 1)
            of_first[count:] = columns[count][: n * m + 1 - count]
            share = rows / (rows + count)
            columns[count] = share * of_first + (1 - share) * columns[count - 1]
    return columns[m]


def stratified_ratio(strata: Sequence[Stratum], confidence: float = 0.95) -> Interval:
    """`hodges_lehmann_ratio` where only values of one stratum may be compared: the pairs of all are pooled.

    The interval is that of the sum of the strata's rank counts, exact for few pairs; where they carry none it
    is 0 to infinity. Raises ValueError as `hodges_lehmann_ratio` does, and without any stratum.
    """
    if not strata or not all(a and b for a, b in strata):
        raise ValueError("a ratio needs at least one value in each arm")
    if min(value for pair in strata for arm in pair for value in arm) <= 0:
        raise ValueError("a ratio needs values above 0")
    outer = (np.subtract.outer(np.log(np.asarray(a, float)), np.log(np.asarray(b, float))) for a, b in strata)
    logs = np.sort(np.concatenate([one.ravel() for one in outer]))
    estimate = float(np.exp(np.median(logs)))
    drop = _dropped_of(strata, (1 - confidence) / 2)
    if drop is None:
        return Interval(estimate, 0.0, math.inf)
    return Interval(estimate, float(np.exp(logs[drop])), float(np.exp(logs[-1 - drop])))


def _dropped_of(strata: Sequence[Stratum], tail: float) -> int | None:
    null = _null(strata)
    if null is not None:
        below = np.cumsum(null)
        return int(np.searchsorted(below, tail, side="right")) - 1 if below[0] <= tail else None
    from scipy.stats import norm

    middle, spread = _moments(strata)
    return max(0, math.floor(middle + float(norm.ppf(tail)) * spread) - 1)


def stratified_p(strata: Sequence[Stratum]) -> float:
    """Two-sided p-value that in each stratum both arms come from one distribution; of one, Mann-Whitney's.

    Ties count half. Raises ValueError as `mann_whitney` does.
    """
    if len(strata) == 1:
        return mann_whitney(*strata[0])
    found = 0.0
    for a, b in strata:
        less = np.subtract.outer(np.asarray(a, float), np.asarray(b, float))
        found += float((less > 0).sum() + (less == 0).sum() / 2)
    null = _null(strata)
    middle, spread = _moments(strata)
    far = abs(found - middle)
    if null is not None:
        places = np.arange(len(null))
        return float(min(1.0, null[np.abs(places - middle) >= far - 1e-9].sum()))
    from scipy.stats import norm

    return float(min(1.0, 2 * norm.sf(max(far - 0.5, 0.0) / spread)))


def _null(strata: Sequence[Stratum]) -> Floats | None:
    """The distribution of the summed rank counts without a difference; None: of too many pairs to count."""
    if sum(len(a) * len(b) for a, b in strata) > _PAIRS_TO:
        return None
    together: Floats = np.ones(1)
    for a, b in strata:
        together = np.convolve(together, _rank_distribution(len(a), len(b)))
    return together


def _moments(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Mean and standard deviation of the same."""
    sizes = [(len(a), len(b)) for a, b in strata]
    return sum(n * m for n, m in sizes) / 2, math.sqrt(sum(n * m * (n + m + 1) for n, m in sizes) / 12)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: one below 0.05 is so whatever else was asked."""
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = least
    return adjusted
