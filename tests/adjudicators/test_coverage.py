"""Coverage: enough iterations in the mix's proportion, long enough, and seen by the watch."""

import pytest
from judging import adjudicate, event, evidence, iteration, plan_kind, sample, trace

from soakproof.judge import Outcome

KINDS = {"kinds": [plan_kind("json", 10), plan_kind("prose", 3)]}


def done(kind: str, n: int, end="completed", node="load"):
    return [iteration(kind, i, end=end, node=node) for i in range(1, n + 1)]


def watched(seconds=60.0):
    return [
        *trace("memory", seconds, available_bytes=1),
        *trace("process:backend", seconds, rss_bytes=1),
        *trace("slots", seconds, every=2.5, busy=0),
        sample("kernel_log", 0.0),
        event("watch_ended", seconds, ticks_due=60, ticks_had=60, ticks_missed=0, late_max_ms=1.5),
    ]


def full(*more, plan=KINDS, **over):
    return evidence(done("json", 10), done("prose", 3), watched(), *more, plan=plan, **over)


def test_a_whole_run_passes_everywhere() -> None:
    found = adjudicate("coverage", full())
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert set(found) == {
        "duration",
        "json",
        "prose",
        "mix",
        "watch",
        "source memory",
        "source slots",
        "source process:backend",
    }
    assert found["duration"].answer == "The load lasted 60.0 s where 60 s were planned, ended by time."
    assert found["source slots"].answer == "24 readings with a value of 24 due."


def test_a_run_that_was_interrupted_is_too_short() -> None:
    found = adjudicate("coverage", full(run={"load_ended_ns": 30 * 10**9, "ended": {"why": "interrupt"}}))
    assert found["duration"].outcome is Outcome.INCONCLUSIVE
    assert found["duration"].answer == "The load lasted 30.0 s where 60 s were planned, ended by interrupt."


def test_a_killed_run_has_no_known_length() -> None:
    found = adjudicate("coverage", full(run={"load_ended_ns": None, "ended": None}))
    assert found["duration"].outcome is Outcome.INCONCLUSIVE
    assert found["watch"].outcome is Outcome.INCONCLUSIVE
    assert found["source memory"].outcome is Outcome.INCONCLUSIVE


def test_a_kind_short_of_its_deck_is_named_with_what_became_of_the_others() -> None:
    run = evidence(
        done("json", 10), done("prose", 2), iteration("prose", 3, end="failed"), watched(), plan=KINDS
    )
    found = adjudicate("coverage", run)
    assert found["prose"].outcome is Outcome.INCONCLUSIVE
    assert found["prose"].answer == "2 iterations completed (1 failed); at least 3 wanted."
    assert found["json"].outcome is Outcome.PASS


def test_one_of_each_kind_is_wanted_even_without_a_deck() -> None:
    assert (
        adjudicate("coverage", evidence(watched(), plan=KINDS), decks=0)["json"].outcome
        is Outcome.INCONCLUSIVE
    )


def test_a_policy_may_want_more_decks() -> None:
    assert adjudicate("coverage", full(), decks=2)["json"].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("n", "outcome"), [(12, Outcome.PASS), (20, Outcome.PASS), (21, Outcome.INCONCLUSIVE)]
)
def test_the_mix_is_kept_within_one_deck(n, outcome) -> None:
    run = evidence(done("json", n), done("prose", 3), watched(), plan=KINDS)
    assert adjudicate("coverage", run)["mix"].outcome is outcome


def test_each_load_node_deals_its_own_decks() -> None:
    run = evidence(
        done("json", 15, node="load-1"),
        done("json", 15, node="load-2"),
        done("prose", 3),
        watched(),
        plan=KINDS,
    )
    assert adjudicate("coverage", run)["mix"].outcome is Outcome.PASS


def test_a_source_with_holes_is_inconclusive() -> None:
    holes = [*trace("memory", 30), *trace("memory", 20, start=40)]
    run = evidence(done("json", 10), done("prose", 3), holes, plan=KINDS)
    found = adjudicate("coverage", run, required=["memory"])["source memory"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer == "50 readings with a value of 60 due."
    assert found.figures[1].value == 11.0


def test_samples_outside_the_load_do_not_count() -> None:
    late = trace("memory", 60, start=61)
    found = adjudicate("coverage", evidence(trace("memory", 30), late), required=["memory"])["source memory"]
    assert found.answer.startswith("30 readings")


def test_a_denied_source_is_told_with_its_reason() -> None:
    denied = [sample("slots", at * 2.5, state="denied", reason="401 without a key") for at in range(24)]
    found = adjudicate("coverage", evidence(denied), required=["slots"])
    assert found["source slots"].outcome is Outcome.INCONCLUSIVE
    assert found["source slots"].answer == (
        "0 readings with a value of 24 due; 24 denied (401 without a key)."
    )
    assert found["blind sources"].critical is False
    assert "slots: 24 denied (401 without a key)" in found["blind sources"].answer


def test_a_source_that_was_never_sampled_is_inconclusive() -> None:
    found = adjudicate("coverage", evidence(watched()), required=["gpu"])["source gpu"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        "0 readings with a value of 60 due; it was never sampled.",
    )


def test_a_required_name_stands_for_cards_and_restarted_backends() -> None:
    run = evidence(
        trace("amdgpu:card1"), trace("process:backend", 20), trace("process:backend-2", 40, start=20)
    )
    found = adjudicate("coverage", run, required=["amdgpu", "process:backend"])
    assert found["source amdgpu"].outcome is Outcome.PASS
    assert found["source process:backend"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("more", "outcome", "answer"),
    [
        ([], Outcome.PASS, "It was there all the time."),
        (
            [sample("kernel_log", 30.0, state="error", reason="journalctl ended")],
            Outcome.INCONCLUSIVE,
            "It was not there all the time: 1 error (journalctl ended).",
        ),
    ],
)
def test_the_kernel_log_tells_its_state_on_change_only(more, outcome, answer) -> None:
    found = adjudicate("coverage", full(more), required=["kernel_log"])["source kernel_log"]
    assert (found.outcome, found.answer) == (outcome, answer)


def test_a_kernel_log_that_was_never_told_of_is_inconclusive() -> None:
    found = adjudicate("coverage", evidence(), required=["kernel_log"])["source kernel_log"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        "It was not there all the time: it was never sampled.",
    )


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "it left no sample"),
        (trace("memory", 30), "its last sample came 31.0 s before the load's end"),
        (trace("memory", 50, start=10), "its first sample came 10.0 s after the load's start"),
        (trace("memory", 60), "it never told its end, so it was killed"),
    ],
)
def test_a_watch_that_missed_a_part_is_told(records, words) -> None:
    found = adjudicate("coverage", evidence(records))["watch"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        f"The watch did not see all of the run: {words}.",
    )


def test_without_required_sources_the_watch_is_not_asked_for() -> None:
    assert "watch" not in adjudicate("coverage", evidence(), required=[])


def test_an_unknown_plan_is_inconclusive() -> None:
    found = adjudicate("coverage", evidence(run={"plan": {}}))
    assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}
