"""Throughput against a baseline of several runs: how far these lie apart bounds what is claimed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.catalog import Catalog
from soakproof.judge import Evidence, Finding, Outcome
from soakproof.testing.evidence import adjudicate, evidence, exchange

rates = st.lists(st.floats(5, 20), min_size=1, max_size=8)


def run(rates, id: str = "run-a") -> Evidence:
    timings = [{"predicted_n": 768, "predicted_ms": 768_000 / rate} for rate in rates]
    return evidence([exchange(f"x{i}", iteration=i, timings=t) for i, t in enumerate(timings)], id=id)


def baseline(*runs) -> Evidence:
    first, *others = [run(rates, f"was-{n}") for n, rates in enumerate(runs, 1)]
    return replace(first, repeats=tuple(others))


def judged(ours, *runs, **options) -> Finding:
    return adjudicate("throughput", run(ours), baseline(*runs), **options)["long_prose"]


def around(level: float, n: int = 8) -> list[float]:
    return [level * (1 + 0.001 * (i - n // 2)) for i in range(n)]


@pytest.mark.parametrize(
    ("ours", "levels", "outcome", "words"),
    [
        (9.4, (10.0, 10.05, 9.95), Outcome.FAIL, "-6.0% against theirs, below all of them."),
        (9.4, (10.0, 10.6, 9.8), Outcome.INCONCLUSIVE, "below all of them: no more than they differ."),
        (9.4, (10.0, 10.6, 9.3), Outcome.INCONCLUSIVE, "within their range"),
        (10.0, (10.0, 10.05, 9.95), Outcome.PASS, "differ by 1.0% among themselves"),
        (10.5, (10.0, 10.05, 9.95), Outcome.PASS, "above all of them."),
        (10.1, (10.0, 10.35, 9.98), Outcome.PASS, "a fall of the margin could not be told from that"),
    ],
)
@pytest.mark.parametrize("n", [3, 8])
def test_the_runs_bound_what_is_claimed(ours, levels, outcome, words, n) -> None:
    found = judged(around(ours, n), *(around(level, n) for level in levels))
    assert found.outcome is outcome, found.answer
    assert words in found.answer
    assert "the medians of 3 runs against 1: descriptive only" in found.strength


def test_every_run_is_told_with_its_median() -> None:
    found = judged(around(10), around(10.0), around(10.1), around(9.9))
    figures = {figure.name: figure for figure in found.figures}
    assert figures["generation_rate median"].note == "baseline n=24 in 3 runs"
    apart = figures["generation_rate run-to-run"]
    assert (apart.value, apart.n) == (pytest.approx(2.02, abs=0.01), 3)
    assert apart.note == "medians of the baseline's runs: was-1 9.995, was-2 10.09, was-3 9.895"


def test_a_run_of_too_few_values_is_no_repeat() -> None:
    found = judged(around(10), around(10.0), [9.0, 9.1])
    assert "of the baseline's runs only one has 3 values" in found.strength
    assert "among themselves" not in found.answer


THROUGHPUT = Catalog(Path(__file__).parent).adjudicator("throughput")()


def outcome(ours, *runs) -> Outcome:
    """Of the comparison alone, which is quick."""
    return THROUGHPUT.against(ours, {f"was-{n}": rates for n, rates in enumerate(runs)})[0]


@given(ours=rates, first=rates, others=st.lists(rates, min_size=1, max_size=3))
@settings(max_examples=50)
def test_more_runs_never_claim_more(ours, first, others) -> None:
    """What the answers alone do not show, the runs do not add."""
    pooled = outcome(ours, [*first, *(v for o in others for v in o)])
    assert outcome(ours, first, *others) in (pooled, Outcome.INCONCLUSIVE)


def test_runs_that_differ_by_chance_are_seldom_called_slower() -> None:
    """A run has a level of its own, 2 % from the next: against one run chance often looks like a fall."""
    rng = np.random.default_rng(7)
    alarms, missed, trials = {1: 0, 3: 0, 5: 0}, 0, 250
    for _ in range(trials):
        ours, *before = ((level * rng.normal(1, 0.005, 6)).tolist() for level in rng.normal(10, 0.2, 6))
        for n in alarms:
            alarms[n] += outcome(ours, *before[:n]) is Outcome.FAIL
        missed += outcome([0.88 * rate for rate in ours], *before[:3]) is not Outcome.FAIL
    assert alarms[1] > 0.07 * trials
    assert alarms[3] < 0.07 * trials
    assert alarms[5] < 0.05 * trials
    assert missed < 0.10 * trials
