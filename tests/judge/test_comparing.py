"""What a comparison says of arms: material or not, and all that keeps it from saying so."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from soakproof.clock import nanoseconds
from soakproof.judge import Evidence
from soakproof.judge.comparing.arms import Arm, Measurement
from soakproof.judge.comparing.comparison import Comparison, compare_arms
from soakproof.judge.comparing.judged import Judged, Result, corrected
from soakproof.judge.comparing.ofruns import arm_of_runs
from soakproof.judge.comparing.request import Request
from soakproof.judge.comparing.rows import Row
from soakproof.report.comparing import tables, to_markdown
from soakproof.testing.evidence import evidence, exchange, opened, trace

RATE = "generation_rate"
STEADY = [99.8, 100.0, 100.1, 100.2, 99.9, 100.05]


def arm(name: str, values: Sequence[float], *, metric: str = RATE, first: int = 0, **more: Any) -> Arm:
    told = {"completion_tokens": 512, "prompt_tokens": 8192, "cached_tokens": 0, **more}
    made = [
        Measurement(name=f"{name}-{n}", workload="8K", values={metric: value}, **told)
        for n, value in enumerate(values, first)
    ]
    return Arm(name=name, measurements=tuple(made))


def asked(*arms: Arm, metrics: tuple[str, ...] = (RATE,), **more: Any) -> Comparison:
    return compare_arms(arms, Request(metrics=metrics, **more))


def only(made: Comparison) -> Row:
    (row,) = made.rows
    return row


@pytest.mark.parametrize(
    ("factor", "result", "outcome"),
    [
        (1.004, Result.SAME, "PASS"),
        (0.9, Result.WORSE, "FAIL"),
        (1.1, Result.BETTER, "PASS"),
        (0.97, Result.UNCLEAR, "INCONCLUSIVE"),
        (1.03, Result.NOT_WORSE, "PASS"),
    ],
)
def test_the_interval_decides_against_the_margin(factor: float, result: Result, outcome: str) -> None:
    made = asked(arm("was", STEADY), arm("now", [factor * v for v in reversed(STEADY)]))
    row = only(made)
    assert (row.judged.result, row.judged.descriptive, str(made.outcome)) == (result, False, outcome)
    assert row.judged.change is not None
    assert row.judged.change.estimate == pytest.approx(factor - 1, abs=0.002)


def test_of_a_time_more_is_worse_and_a_few_milliseconds_are_nothing() -> None:
    for level, result in ((1.0, Result.WORSE), (0.02, Result.SAME)):
        was = arm("was", [level * v / 100 for v in STEADY], metric="total_time")
        now = arm("now", [1.2 * level * v / 100 for v in STEADY], metric="total_time")
        assert only(asked(was, now, metrics=("total_time",))).judged.result is result


def test_three_against_three_describe_and_decide_only_where_few_are_accepted() -> None:
    was, now = arm("was", [100, 101, 99]), arm("now", [80, 81, 79])
    made, accepted = asked(was, now), asked(was, now, accept_few=True)
    assert (only(made).judged.result, only(made).few) == (Result.WORSE, True)
    assert (str(made.outcome), str(accepted.outcome)) == ("INCONCLUSIVE", "FAIL")
    assert "descriptive only" in made.sentence
    among = arm("now", [80, 81, 100.5])
    assert only(asked(was, among, accept_few=True)).judged.result is Result.UNCLEAR


def test_a_change_that_is_not_that_of_the_medians_says_so_below_its_table() -> None:
    for n, says in ((5, True), (3, False)):
        made = asked(arm("was", [100, 130, 90, 105, 99][:n]), arm("now", [80, 99, 79, 60, 95][:n]))
        notes = [table.note for _, table in tables(made) if table.note]
        assert bool(notes) is says
        assert ("not the ratio of the two medians" in to_markdown(made)) is says


def test_identical_data_is_no_evidence_and_an_empty_arm_is_told() -> None:
    same = asked(arm("was", STEADY), arm("now", STEADY))
    assert (str(same.outcome), only(same).judged.result) == ("INCONCLUSIVE", Result.UNCLEAR)
    assert "no evidence of equality" in only(same).judged.why
    empty = asked(arm("was", STEADY), Arm(name="now"), accept_few=True)
    assert str(empty.outcome) == "INCONCLUSIVE"
    assert "the arm now is empty" in empty.sentence


def test_cold_and_cached_prompts_are_never_mixed() -> None:
    made = asked(arm("was", STEADY), arm("now", [2 * v for v in STEADY], cached_tokens=8190))
    assert {(r.prompts, r.judged.result) for r in made.rows} == {
        ("cold", Result.MISSING),
        ("cached", Result.MISSING),
    }
    assert str(made.outcome) == "INCONCLUSIVE"


@pytest.mark.parametrize("length", [{"completion_tokens": 256}, {"prompt_tokens": 512}, {"max_tokens": 9}])
def test_other_lengths_are_not_compared(length: dict[str, int]) -> None:
    made = asked(arm("was", STEADY), arm("now", [2 * v for v in STEADY], **length))
    assert only(made).judged.result is Result.MISSING
    assert "like lengths" in only(made).judged.why


def test_prompts_of_about_one_length_are_in_one_band_wherever_it_begins() -> None:
    for tokens in range(1000, 1400, 7):
        made = asked(
            arm("was", STEADY, prompt_tokens=tokens), arm("now", STEADY[::-1], prompt_tokens=tokens + 5)
        )
        assert only(made).judged.result is not Result.MISSING


def test_another_mix_of_lengths_makes_no_change() -> None:
    """Short answers are twice as fast in both arms; one arm has more of them."""
    short = {"completion_tokens": 64}
    was = Arm(
        name="was",
        measurements=arm("a", STEADY * 3).measurements
        + arm("b", [2 * v for v in STEADY], **short).measurements,
    )
    now = Arm(
        name="now",
        measurements=arm("a", [v + 0.03 for v in STEADY]).measurements
        + arm("b", [2 * v + 0.03 for v in STEADY * 3], **short).measurements,
    )
    assert only(asked(was, now)).judged.result is Result.SAME


def test_holm_over_the_metrics_of_a_workload_takes_back_what_chance_may_have_made() -> None:
    """One change of three, at p = 0.02, is none any more; at 0.008, the least of five against five, it is."""
    steady = Judged(result=Result.SAME, descriptive=False, p=0.7)
    for p, result in ((0.02, Result.UNCLEAR), (0.008, Result.WORSE)):
        rows = {"a": Judged(result=Result.WORSE, descriptive=False, p=p), "b": steady, "c": steady}
        found = corrected(rows)
        assert found["a"].p_holm == pytest.approx(3 * p)
        assert (found["a"].result, found["b"].result) == (result, Result.SAME)


def test_no_false_alarm_where_there_is_no_change_and_no_miss_of_a_tenth() -> None:
    draw = np.random.default_rng(4)
    found = {1.0: 0, 0.9: 0}
    for factor in found:
        for _ in range(100):
            was, now = (list(map(float, draw.normal(level, 2, 8))) for level in (100, 100 * factor))
            found[factor] += only(asked(arm("was", was), arm("now", now))).judged.result is Result.WORSE
    assert found[1.0] <= 1
    assert found[0.9] >= 95


# -- runs


def run(
    id: str, rates: Sequence[float], start: int = 0, target: dict[str, Any] | None = None, **more: Any
) -> Evidence:
    """A run whose answers have these rates, and which began at that minute."""
    answers = [
        exchange(
            f"{id}-{n}",
            iteration=n,
            at=2.0 * n,
            prompt_tokens=400,
            completion_tokens=64,
            cached_tokens=0,
            prompt_digest=f"p{n}",
            temperature=0.0,
            timings={"predicted_n": 64, "predicted_ms": 64_000 / rate},
            **more,
        )
        for n, rate in enumerate(rates)
    ]
    started = f"2026-08-28T10:{start:02d}:00Z"
    told = {"started_at": started, "load_ended_ns": nanoseconds(50)}
    return evidence(*answers, id=id, target=target, run=told, raw={"outcome": "clean"})


def runs_of(name: str, *runs: Evidence) -> Arm:
    return arm_of_runs(name, runs, (RATE,))


def test_runs_are_arms_and_what_is_under_test_is_printed() -> None:
    was = runs_of("was", run("a", STEADY))
    now = runs_of("now", run("b", [0.8 * v for v in STEADY], 5, target={"build": "b2"}))
    made = asked(was, now)
    assert (only(made).judged.result, str(made.outcome)) == (Result.WORSE, "INCONCLUSIVE")  # of one run each
    made = asked(was, now, accept_few=True)
    assert (only(made).judged.result, str(made.outcome)) == (Result.WORSE, "FAIL")
    assert [(d.field, d.was, d.now) for d in made.differences] == [("backend_build", "b1", "b2")]
    assert made.order.kind == "one after the other"
    assert any("one run of was, now" in told for told in made.remarks)


def test_a_field_that_must_be_the_same_withholds_speeds_unless_anyway() -> None:
    was, now = (
        runs_of("was", run("a", STEADY)),
        runs_of("now", run("b", STEADY[::-1], 5, target={"slots": 4})),
    )
    made = asked(was, now)
    assert (made.rows, str(made.outcome)) == ((), "INCONCLUSIVE")
    assert "slots: 4, not 2" in made.sentence
    assert asked(was, now, anyway=True).rows
    mixed = asked(was, runs_of("now", run("b", STEADY, 5), run("c", STEADY, 9, target={"build": "b2"})))
    assert "its own runs differ in backend_build" in mixed.sentence


def test_five_runs_an_arm_are_five_repeats() -> None:
    """Runs differ by 4 % among themselves: hundreds of answers do not make that go away."""
    levels = (0.96, 0.98, 1.0, 1.02, 1.04)
    was = runs_of("was", *(run(f"a{n}", [f * v for v in STEADY], 2 * n) for n, f in enumerate(levels)))
    now = runs_of(
        "now", *(run(f"b{n}", [0.95 * f * v for v in STEADY], 2 * n + 1) for n, f in enumerate(levels))
    )
    row = only(asked(was, now))
    assert (row.judged.unit, row.judged.n) == ("runs", (5, 5))
    assert row.judged.result is Result.UNCLEAR


def test_a_change_within_the_spread_of_few_runs_is_unclear() -> None:
    was = runs_of("was", run("a1", STEADY), run("a2", [1.1 * v for v in STEADY], 2))
    close = asked(was, runs_of("now", run("b1", [0.96 * v for v in STEADY], 1)))
    assert only(close).judged.result is Result.UNCLEAR
    assert "differ among themselves by 10" in only(close).judged.why


@pytest.mark.parametrize(
    ("starts", "kind"),
    [
        (((0, 3), (1, 2)), "counterbalanced"),
        (((0, 2), (1, 3)), "interleaved"),
        (((0, 1), (2, 3)), "one after the other"),
        (((0, 2), (0, 3)), "at once"),
    ],
)
def test_the_order_of_runs_is_told(starts: tuple[tuple[int, int], tuple[int, int]], kind: str) -> None:
    arms = [
        runs_of(name, *(run(f"{name}{n}", STEADY, minute) for n, minute in enumerate(minutes)))
        for name, minutes in zip("ab", starts, strict=True)
    ]
    assert asked(*arms).order.kind == kind


def test_more_failures_keep_a_fast_arm_from_passing() -> None:
    lost = [exchange("x", iteration=90 + n, outcome="fail") for n in range(3)]
    broken = run("b", [1.2 * v for v in STEADY], 5)
    broken = evidence(*broken.exchanges, *lost, id="b", run=dict(broken.run), raw=broken.raw)
    made = asked(runs_of("was", run("a", STEADY)), runs_of("now", broken), anyway=True)
    assert str(made.outcome) == "INCONCLUSIVE"
    assert "3 of 9 requests failed, 0 of 6 in was" in made.sentence


def test_a_run_that_is_not_whole_keeps_from_passing() -> None:
    was = runs_of("was", run("a", STEADY))
    whole = run("b", [1.001 * v for v in STEADY], 5)
    for more, told in (
        ({"raw": {"outcome": "error"}}, "b is no finished run: its raw outcome is error"),
        ({"raw": whole.raw, "recovered": True}, "b was sealed after a crash"),
        ({"raw": whole.raw, "problems": ("line 3 is torn",)}, "b is not what was sealed: line 3 is torn"),
    ):
        now = runs_of("now", evidence(*whole.exchanges, id="b", run=dict(whole.run), **more))
        made = asked(was, now)
        assert (str(made.outcome), told in made.sentence) == ("INCONCLUSIVE", True)
    assert str(asked(was, runs_of("now", whole)).outcome) == "PASS"


@pytest.mark.parametrize(("waited", "told"), [(98.0, True), (61.0, False)])
def test_a_host_that_was_busier_in_one_arm_is_told(waited: float, told: bool) -> None:
    def beside(made: Evidence, percent: float) -> Evidence:
        load = trace("psi", 60, every=5, cpu_some_avg10_percent=lambda _: percent)
        return evidence([*made.exchanges, *load], duration=60.0, id=made.id, run=dict(made.run), raw=made.raw)

    was, now = run("a", STEADY), run("b", [0.5 * v for v in STEADY], 5)
    arms = runs_of("was", beside(was, 60.0)), runs_of("now", beside(now, waited))
    made = asked(*arms, accept_few=True)
    said = [one for one in made.remarks if "waited for a processor in 98 % of the time in now" in one]
    assert bool(said) is told
    assert str(made.outcome) == "FAIL"


# -- answers and drafts


def test_greedy_answers_are_compared_by_their_prompts() -> None:
    was, now = runs_of("was", run("a", STEADY)), runs_of("now", run("b", STEADY[::-1], 5))
    made = asked(was, now, same_answers=True)
    assert (made.answers[0].compared, made.answers[0].identical) == (6, 6)
    assert str(made.checks[0].outcome) == "PASS"
    split = asked(was, runs_of("now", run("b", STEADY[::-1], 5, text="yet")), same_answers=True)
    assert str(split.outcome) == "FAIL"
    assert split.answers[0].split is not None
    assert (split.answers[0].split.at, split.answers[0].split.now_text) == (2, "t")
    drawn = asked(was, Arm(name="now", measurements=arm("n", STEADY).measurements), same_answers=True)
    assert str(drawn.checks[0].outcome) == "INCONCLUSIVE"


def test_drafts_are_shown_and_greedy_requests_are_held_to_have_none() -> None:
    timings = {"predicted_n": 64, "predicted_ms": 640.0, "draft_n": 100, "draft_n_accepted": 61}
    drafting = evidence(exchange(temperature=0.0, timings=timings), id="d")
    arms = runs_of("plain", run("a", STEADY)), runs_of("draft", drafting)
    made = asked(*arms, greedy_undrafted=True, anyway=True)
    assert [(d.arm, d.drafting, d.acceptance) for d in made.drafts] == [("draft", 1, (0.61, 0.61))]
    assert [str(c.outcome) for c in made.checks] == ["PASS", "FAIL"]
    untold = runs_of("draft", evidence(exchange(temperature=0.0), id="u"))
    unknown = asked(arms[0], untold, greedy_undrafted=True, anyway=True)
    assert str(unknown.checks[1].outcome) == "INCONCLUSIVE"


def test_a_request_without_an_end_is_not_called_failed() -> None:
    whole = [exchange(f"a{n}", at=n, took=0.5) for n in range(20)]
    killed = [exchange(f"b{n}", at=n, took=0.5) for n in range(20)]
    arms = [arm_of_runs("A", [evidence(whole)], [RATE])]
    arms.append(arm_of_runs("B", [evidence(killed, opened(exchange("open", at=30)))], [RATE]))
    assert [(one.asked, one.failed, one.unknown) for one in arms] == [(20, 0, 0), (21, 0, 1)]
    told = to_markdown(asked(*arms))
    assert "B: 0 of 21 requests failed (of 1 no end is known), 0 of 20 in A: speeds" in told
    assert "end unknown" in told
