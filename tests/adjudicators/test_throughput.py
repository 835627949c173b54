"""Throughput: the same model's baseline, medians where there are few, an interval where there are enough."""

import pytest
from judging import adjudicate, evidence, exchange, plan_kind

from soakproof.judge import Outcome

FOUNDING = (12.10, 12.29, 12.40)
BASELINE = (11.80, 11.86, 11.90)


def run(*rates: float, kind="long_prose", **more):
    """One exchange a rate, told by the server's own count and time."""
    timings = [{"predicted_n": 768, "predicted_ms": 768_000 / rate, **more} for rate in rates]
    return evidence([exchange(f"x{i}", kind=kind, iteration=i, timings=t) for i, t in enumerate(timings)])


def test_the_founding_case_passes_on_medians_and_says_so() -> None:
    found = adjudicate("throughput", run(*FOUNDING), run(*BASELINE))["long_prose"]
    assert found.outcome is Outcome.PASS
    assert (
        found.answer
        == "The median is +3.6% against the baseline's, not slower by more than the margin of 3.0%."
    )
    assert found.strength == "3 against 3: descriptive only, medians compared"
    assert found.figures[0].value == pytest.approx(12.29)
    assert found.figures[0].baseline == pytest.approx(11.86)
    assert found.figures[0].n == 3
    assert found.limit_source == "baseline, policy"


@pytest.mark.parametrize(
    ("rate", "margin", "outcome"),
    [(9.71, "3 %", Outcome.PASS), (9.69, "3 %", Outcome.FAIL), (9.69, "5 %", Outcome.PASS)],
)
def test_few_values_are_judged_by_the_margin(rate, margin, outcome) -> None:
    found = adjudicate("throughput", run(rate, rate, rate), run(10, 10, 10), margin=margin)["long_prose"]
    assert found.outcome is outcome
    assert "descriptive only" in found.strength


def spread(centre: float, width: float, n: int = 8):
    return [centre * (1 + width * (i - (n - 1) / 2) / n) for i in range(n)]


@pytest.mark.parametrize(
    ("ours", "outcome", "words"),
    [
        (spread(10.0, 0.02), Outcome.PASS, "not slower by more than the margin"),
        (spread(11.0, 0.02), Outcome.PASS, "not slower by more than the margin"),
        (spread(9.0, 0.02), Outcome.FAIL, "slower by more than the margin"),
        (spread(9.8, 0.30), Outcome.INCONCLUSIVE, "too wide to tell"),
    ],
)
def test_five_or_more_are_judged_by_their_interval(ours, outcome, words) -> None:
    found = adjudicate("throughput", run(*ours), run(*spread(10.0, 0.02)))["long_prose"]
    assert found.outcome is outcome
    assert words in found.answer
    assert found.strength.startswith("8 against 8: Hodges-Lehmann ratio with a 95 % interval")


def test_long_runs_are_thinned_evenly_and_say_so() -> None:
    long = [10.0 + i % 7 * 0.01 for i in range(1500)]
    found = adjudicate("throughput", run(*long), run(*long[:6]))["long_prose"]
    assert found.outcome is Outcome.PASS
    assert found.strength.startswith("1500 against 6, 1000 of each at most compared: Hodges-Lehmann")


def test_without_a_baseline_rates_are_recorded_and_decide_nothing() -> None:
    found = adjudicate("throughput", run(*FOUNDING))["long_prose"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    assert found.strength == "3 values, no baseline: descriptive only"
    assert found.figures[0].value == pytest.approx(12.29)


def test_a_policy_may_require_the_baseline() -> None:
    found = adjudicate("throughput", run(*FOUNDING), require_baseline=True)["long_prose"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)


@pytest.mark.parametrize("empty", ["ours", "theirs"])
def test_an_empty_arm_is_inconclusive_and_decides(empty) -> None:
    arms = (run(), run(*BASELINE)) if empty == "ours" else (run(*FOUNDING), run())
    found = adjudicate("throughput", *arms)["long_prose"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)


def test_absurd_timings_are_not_measured() -> None:
    absurd = evidence(
        exchange(timings={"predicted_n": 1, "predicted_ms": 0.028, "predicted_per_second": 35714})
    )
    found = adjudicate("throughput", absurd, run(*BASELINE))["long_prose"]
    assert (found.outcome, found.answer) == (Outcome.INCONCLUSIVE, "No generation rate could be measured.")


def test_only_the_kinds_that_are_named_are_compared() -> None:
    found = adjudicate("throughput", run(5.0, kind="json"), run(9.0, kind="json"), kinds=["json"])
    assert found["json"].outcome is Outcome.FAIL
    assert "long_prose" not in found


def test_prompt_rate_and_first_token_time_are_described_and_decide_nothing() -> None:
    slow = {"prompt_n": 3000, "prompt_ms": 30_000}
    fast = {"prompt_n": 3000, "prompt_ms": 10_000}
    found = adjudicate("throughput", run(10.0, **slow), run(10.0, **fast))
    described = found["long_prose prompt_rate"]
    assert (described.outcome, described.critical) == (Outcome.PASS, False)
    assert described.answer == "The median is 100 tokens/s, -66.7% against the baseline's."
    assert found["long_prose first_token_time"].critical is False


@pytest.mark.parametrize("required", [False, True])
def test_a_kind_that_the_plan_does_not_ask_for_decides_only_where_a_policy_insists(required) -> None:
    cancels = evidence(plan={"kinds": [plan_kind("cancellation")]})
    found = adjudicate("throughput", cancels, require_baseline=required)["long_prose"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, required)
    assert found.answer == "The plan asks for no long_prose: no rate to judge."
