"""Throughput: the same model's baseline, medians where there are few, an interval where there are enough."""

import random

import pytest

from soakproof.judge import Outcome
from soakproof.testing.evidence import adjudicate, evidence, exchange, plan_kind, trace

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


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome", "words"),
    [
        ((9.0, 9.1, 9.2), (10.0, 10.1, 10.2), Outcome.FAIL, "every answer than every one of the baseline's"),
        ((9.0, 9.1, 10.3), (10.0, 10.1, 10.2), Outcome.INCONCLUSIVE, "some are as fast"),
        ((9.0,), (10.0,) * 10, Outcome.INCONCLUSIVE, "too few values"),
        ((10.0,), (10.0,) * 10, Outcome.INCONCLUSIVE, "too few values"),
        ((10.0,) * 10, (10.0, 10.0), Outcome.INCONCLUSIVE, "too few values"),
        ((9.0, 10.0, 11.2), (10.0,) * 3, Outcome.PASS, "not slower"),
        ((9.0, 10.0, 11.3), (10.0,) * 3, Outcome.INCONCLUSIVE, "these 3 range from 9 to 11.3"),
        ((10.0,) * 10, (4.0, 10.0, 40.0, 10.0), Outcome.INCONCLUSIVE, "the baseline's 4 range from 4 to 40"),
        ((9.9, 10.0, 10.1), (5.0, *(10.0,) * 9), Outcome.PASS, "not slower"),
    ],
)
def test_few_values_claim_no_more_than_they_carry(ours, theirs, outcome, words) -> None:
    found = adjudicate("throughput", run(*ours), run(*theirs))["long_prose"]
    assert found.outcome is outcome
    assert words in found.answer


def test_a_policy_may_refuse_medians_of_few_values() -> None:
    found = adjudicate("throughput", run(*FOUNDING), run(*BASELINE), accept_few=False)["long_prose"]
    assert found.outcome is Outcome.INCONCLUSIVE
    slower = adjudicate("throughput", run(9, 9, 9), run(10, 10, 10), accept_few=False)["long_prose"]
    assert slower.outcome is Outcome.FAIL


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
    found = adjudicate(
        "throughput", run(5.0, 5.0, 5.0, kind="json"), run(9.0, 9.0, 9.0, kind="json"), kinds=["json"]
    )
    assert found["json"].outcome is Outcome.FAIL
    assert "long_prose" not in found


def prefill(*prompt_ms: float, first_s: float = 0.5):
    """Answers that are made as fast, of prompts that took so long."""
    told = [{"predicted_n": 100, "predicted_ms": 1000, "prompt_n": 3000, "prompt_ms": ms} for ms in prompt_ms]
    return evidence(
        [
            exchange(f"x{i}", kind="long_prose", iteration=i, timings=t, first=first_s)
            for i, t in enumerate(told)
        ]
    )


@pytest.mark.parametrize(
    ("slower", "outcome", "decides"),
    [
        (6.0, Outcome.FAIL, True),
        (1.5, Outcome.FAIL, True),
        (1.2, Outcome.PASS, False),
        (1.0, Outcome.PASS, False),
    ],
)
def test_prompts_that_are_processed_far_slower_fail(slower, outcome, decides) -> None:
    took = [1000 + 10 * n for n in range(8)]
    found = adjudicate("throughput", prefill(*(slower * ms for ms in took)), prefill(*took))
    prompts = found["long_prose prompt_rate"]
    assert (prompts.outcome, prompts.critical) == (outcome, decides), prompts.answer
    assert found["long_prose"].outcome is Outcome.PASS


def test_prompts_that_vary_too_much_to_tell_decide_nothing() -> None:
    wide = [500, 5000, 700, 4000, 900, 3000]
    found = adjudicate("throughput", prefill(*wide), prefill(*wide))["long_prose prompt_rate"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False), found.answer


def test_a_first_token_that_takes_far_longer_is_told_and_decides_nothing() -> None:
    took = [1000.0] * 8
    found = adjudicate("throughput", prefill(*took, first_s=2.0), prefill(*took))[
        "long_prose first_token_time"
    ]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    assert "longer by more than 50%" in found.answer


@pytest.mark.parametrize(
    ("busy", "cores", "excused"),
    [
        (90.0, 1.0, True),
        (82.0, 3.0, False),  # it was the server itself that used more
        (30.0, 1.0, False),  # it asks for more than there is: nobody else is there
        (None, 1.0, False),  # nothing excuses what was not seen
    ],
)
def test_a_host_that_others_kept_busier_than_the_baselines_convicts_nobody(busy, cores, excused) -> None:

    def loaded(rate: float, waited: float, cores: float, busy: float | None):
        pressure = trace("psi", 60, every=5, cpu_some_avg10_percent=lambda _: waited)
        used = trace("process:backend", 60, every=5, pid=7, cpu_seconds=lambda t: cores * t)
        all_of = trace("cpu", 60, every=5, cores=4, busy_percent=busy, stolen_percent=0.0)
        tester = trace("tester", 60, every=5, node="load", cpu_percent=20.0)
        beside = [*pressure, *used, *all_of, *tester]
        return evidence(run(*[rate] * 8).exchanges, beside, duration=60.0)

    found = adjudicate("throughput", loaded(10.0, 95.0, cores, busy), loaded(20.0, 40.0, 1.0, 31.0))
    rate = found["long_prose"]
    assert rate.outcome is (Outcome.INCONCLUSIVE if excused else Outcome.FAIL), rate.answer
    assert rate.critical
    assert ("others than the server and the tester used 2.4 processors" in rate.answer) is excused


def test_of_few_prompts_rates_and_first_tokens_are_described_and_decide_nothing() -> None:
    slow = {"prompt_n": 3000, "prompt_ms": 30_000}
    fast = {"prompt_n": 3000, "prompt_ms": 10_000}
    found = adjudicate("throughput", run(10.0, **slow), run(10.0, **fast))
    described = found["long_prose prompt_rate"]
    assert (described.outcome, described.critical) == (Outcome.INCONCLUSIVE, False)
    doubt = "; of so few values that is no more than a doubt"
    assert described.answer == f"The median is 100 tokens/s, -66.7% against the baseline's{doubt}."
    same = adjudicate("throughput", run(10.0, **slow), run(10.0, **slow))["long_prose prompt_rate"]
    assert (same.outcome, same.critical) == (Outcome.PASS, False)
    assert found["long_prose first_token_time"].critical is False


@pytest.mark.parametrize("required", [False, True])
def test_a_kind_that_the_plan_does_not_ask_for_decides_only_where_a_policy_insists(required) -> None:
    cancels = evidence(plan={"kinds": [plan_kind("cancellation")]})
    found = adjudicate("throughput", cancels, require_baseline=required)["long_prose"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, required)
    assert found.answer == "The plan, as it was run, asks for no long_prose: no rate to judge."


def test_a_kind_that_only_the_policy_knows_decides() -> None:
    """Nobody would see that a name is misspelt; a kind that was left out on purpose is none."""
    left = evidence(plan={"kinds": [plan_kind("cancellation")], "left_out": ["json"]})
    for kind, decides in (("nope", True), ("json", False), ("long_prose", False)):
        found = adjudicate("throughput", left, kinds=[kind])[kind]
        assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, decides)


def soak(level, n: int = 60, seconds: float = 1800.0, ours=None, **more):
    """Answers of one length, one after the other: slower by ``level``, a function of the run's seconds.

    ``ours`` is how much slower they arrived, where that is more than what the server says.
    """
    chance = random.Random(3)
    made = []
    for i in range(n):
        at = i * seconds / n
        took = 768 / (40 * level(at) * (1 + chance.gauss(0, 0.02)))
        timings = {"predicted_n": 768, "predicted_ms": 1000 * took, "prompt_n": 100, "prompt_ms": 50.0}
        made.append(
            exchange(
                f"x{i}",
                at=at,
                took=took / (ours(at) if ours else 1),
                first=0.001,
                iteration=i,
                timings=timings,
                max_tokens=768,
                prompt_tokens=6000,
                completion_tokens=768,
                token_events=767,
                **more,
            )
        )
    return evidence(made, duration=seconds)


def decay(t: float) -> float:
    """1 % a minute."""
    return 1 - 0.01 * t / 60


def test_a_decode_that_slows_by_one_percent_a_minute_fails() -> None:
    found = adjudicate("throughput", soak(decay))["long_prose drift"]
    assert (found.outcome, found.critical, found.fault) == (Outcome.FAIL, True, "backend")
    assert "slower and slower: -2" in found.answer
    assert "x3" in found.exchanges
    assert [f.unit for f in found.figures] == ["%", "%"]


def test_a_front_that_lets_tokens_through_ever_more_slowly_is_seen_by_our_clock() -> None:
    found = adjudicate("throughput", soak(lambda t: 1.0, ours=decay))["long_prose drift"]
    assert found.outcome is Outcome.FAIL
    assert "by our clock" in found.answer


def test_a_steady_soak_passes_and_a_policy_sets_the_margin() -> None:
    found = adjudicate("throughput", soak(lambda t: 1.0))["long_prose drift"]
    assert (found.outcome, found.critical) == (Outcome.PASS, True)
    assert adjudicate("throughput", soak(decay), drift="50 %")["long_prose drift"].outcome is Outcome.PASS


@pytest.mark.parametrize("few", [soak(decay, n=6), soak(decay, seconds=400.0), run(*FOUNDING)])
def test_too_few_or_too_short_is_told_and_decides_nothing(few) -> None:
    found = adjudicate("throughput", few)["long_prose drift"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    assert found.answer.startswith("Too short, or too few")


def test_more_clients_from_the_middle_on_are_no_drift() -> None:
    """Each answer takes twice as long beside another stream; alone again it would be as fast as ever."""
    single = soak(lambda t: 1.0 if t < 900 else 0.5)
    beside = [exchange(f"o{i}", kind="other", at=900.0 + 10 * i, took=10.0, iteration=i) for i in range(90)]
    both = evidence([*single.exchanges, *beside], duration=1800.0)
    assert adjudicate("throughput", both)["long_prose drift"].outcome is not Outcome.FAIL


def host(cores: float):
    """Ever more waiting for processors, of which the server uses ``cores`` more at the end."""
    pressure = trace("psi", 1800, every=5, cpu_some_avg10_percent=lambda t: 60 * t / 1800)
    used = trace("process:backend", 1800, every=5, pid=7, cpu_seconds=lambda t: t + cores * t * t / 3600)
    return [*pressure, *used]


@pytest.mark.parametrize(("cores", "outcome"), [(0.0, Outcome.INCONCLUSIVE), (1.0, Outcome.FAIL)])
def test_a_host_that_others_keep_busier_and_busier_convicts_nobody(cores, outcome) -> None:
    """Unless it is the server itself that uses more and more."""
    slower = soak(decay)
    found = adjudicate("throughput", evidence(slower.exchanges, host(cores), duration=1800.0))
    assert found["long_prose drift"].outcome is outcome
    assert ("somebody waited for a processor" in found["long_prose drift"].answer) is (cores == 0)
