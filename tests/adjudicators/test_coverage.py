"""Coverage: enough iterations in the mix's proportion, long enough, and seen by the watch."""

import pytest
from msgspec.structs import replace

from soakproof.judge import Outcome
from soakproof.testing.evidence import adjudicate, event, evidence, iteration, plan_kind, sample, trace

KINDS = {"kinds": [plan_kind("json", 10), plan_kind("prose", 3)]}


def done(kind: str, n: int, end="completed", node="load"):
    return [iteration(kind, i, end=end, node=node) for i in range(1, n + 1)]


def told_end(at=60.0, due=60, had=60, reason="stop"):
    return event("watch_ended", at, ticks_due=due, ticks_had=had, ticks_missed=due - had, reason=reason)


def watched(seconds=60.0):
    return [
        event("watch_started", 0.0),
        *trace("memory", seconds, available_bytes=1),
        *trace("process:backend", seconds, rss_bytes=1),
        *trace("slots", seconds, every=2.5, busy=0),
        sample("kernel_log", 0.0),
        told_end(seconds),
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
        "source kernel_log",
    }
    assert found["duration"].answer == "The load lasted 60.0 s where 60 s were asked for; its time was up."
    assert found["source slots"].answer == "24 readings with a value of 24 due."


@pytest.mark.parametrize(("least", "outcome"), [("2m", Outcome.INCONCLUSIVE), ("30s", Outcome.PASS)])
def test_a_load_that_says_too_little_passes_nothing_however_short_it_was_asked_for(least, outcome) -> None:
    found = adjudicate("coverage", full(), least=least)["duration"]
    assert (found.outcome, found.critical) == (outcome, True)
    assert ("less than 2 min says too little" in found.answer) is (outcome is not Outcome.PASS)


def test_a_run_that_was_interrupted_is_too_short() -> None:
    run = {"load_stopping_ns": 30 * 10**9, "load_ended_ns": 34 * 10**9, "ended": {"why": "interrupt"}}
    found = adjudicate("coverage", full(run=run))
    assert found["duration"].outcome is Outcome.INCONCLUSIVE
    told = "The load lasted 30.0 s where 60 s were asked for; it was interrupted before its time was up."
    assert found["duration"].answer == told


@pytest.mark.parametrize(("plan", "outcome"), [("30m", Outcome.INCONCLUSIVE), ("45s", Outcome.PASS)])
def test_a_policy_may_ask_for_the_plans_own_time(plan: str, outcome: Outcome) -> None:
    run = full(plan={**KINDS, "source": f'duration = "{plan}"'})
    assert adjudicate("coverage", run)["duration"].outcome is Outcome.PASS
    found = adjudicate("coverage", run, whole=True)["duration"]
    assert found.outcome is outcome
    assert ("where 60 s were asked for, of the plan's own 1800 s" in found.answer) is (plan == "30m")


@pytest.mark.parametrize("decides", [False, True])
def test_kinds_that_were_left_out_never_pass_and_decide_where_a_policy_wants_all(decides: bool) -> None:
    """Whoever soaks with --tags means to; a release is of the whole plan."""
    run = full(plan=KINDS | {"left_out": ["cache", "cancel"]})
    found = adjudicate("coverage", run, all_kinds=decides)["kinds left out"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, decides)
    assert found.answer.startswith("2 of the plan's 4 kinds were not asked")
    assert found.answer.endswith("nothing is said of them: cache, cancel.")


def test_many_kinds_that_were_left_out_are_counted() -> None:
    run = full(plan=KINDS | {"left_out": [f"kind{n}" for n in range(30)]})
    assert adjudicate("coverage", run)["kinds left out"].answer.endswith("kind9 and 20 more.")


@pytest.mark.parametrize(
    ("stopped", "outcome"), [(56.9, Outcome.INCONCLUSIVE), (57.0, Outcome.PASS), (60.0, Outcome.PASS)]
)
def test_the_drain_makes_up_for_nothing(stopped, outcome) -> None:
    run = {"load_stopping_ns": int(stopped * 10**9), "ended": {"why": "interrupt"}}
    found = adjudicate("coverage", full(run=run))["duration"]
    assert found.outcome is outcome
    assert found.figures[0].value == stopped


def test_without_the_stops_time_an_interrupted_load_lasted_until_its_last_iteration() -> None:
    late = iteration("json", 11, at=40.0)
    run = evidence(done("json", 10), late, watched(), plan=KINDS, run={"ended": {"why": "interrupt"}})
    found = adjudicate("coverage", run)["duration"]
    assert (found.outcome, found.figures[0].value) == (Outcome.INCONCLUSIVE, 40.0)


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


@pytest.mark.parametrize("required", [[], ["memory"]])
def test_a_source_with_holes_is_inconclusive_whether_or_not_it_is_required(required) -> None:
    holes = [*trace("memory", 30), *trace("memory", 20, start=40)]
    found = adjudicate("coverage", evidence(holes), required=required)["source memory"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.critical
    assert found.answer == "50 readings with a value of 60 due."
    assert found.figures[1].value == 11.0


@pytest.mark.parametrize(("had", "outcome"), [(57, Outcome.PASS), (56, Outcome.INCONCLUSIVE)])
def test_a_few_readings_may_be_missing(had, outcome) -> None:
    found = adjudicate("coverage", evidence(trace("memory", had)), required=[])["source memory"]
    assert found.outcome is outcome


def test_one_reading_may_be_missing_of_a_short_load() -> None:
    run = evidence(trace("slots", 17.5, every=2.5, busy=0), duration=20.0)
    assert adjudicate("coverage", run, required=[])["source slots"].outcome is Outcome.PASS


def test_readings_that_failed_count_as_missing_and_are_told() -> None:
    bad = [sample("slots", at, state="timeout", reason="no answer in 3 s") for at in (25.0, 27.5, 30.0)]
    good = [*trace("slots", 25, every=2.5, busy=0), *trace("slots", 27.5, every=2.5, start=32.5, busy=0)]
    found = adjudicate("coverage", evidence(good, bad), required=[])["source slots"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer == "21 readings with a value of 24 due; 3 timeout (no answer in 3 s)."


def test_samples_outside_the_load_do_not_count() -> None:
    late = trace("memory", 60, start=61)
    found = adjudicate("coverage", evidence(trace("memory", 30), late), required=["memory"])["source memory"]
    assert found.answer.startswith("30 readings")


def test_the_testers_own_samples_are_no_source_of_the_watch() -> None:
    found = adjudicate("coverage", evidence(trace("tester", 5, node="load")), required=[])
    assert "source tester" not in found


def test_a_denied_source_is_told_with_its_reason() -> None:
    denied = [sample("slots", at * 2.5, state="denied", reason="401 without a key") for at in range(24)]
    found = adjudicate("coverage", evidence(denied), required=["slots"])
    assert found["source slots"].outcome is Outcome.INCONCLUSIVE
    assert found["source slots"].critical
    assert found["source slots"].answer == (
        "It had no value in the whole run: 24 denied (401 without a key)."
    )
    assert found["blind sources"].critical is False
    assert "slots: 24 denied (401 without a key)" in found["blind sources"].answer
    assert "source slots" not in adjudicate("coverage", evidence(denied), required=[])


def test_a_source_that_was_never_sampled_is_inconclusive() -> None:
    found = adjudicate("coverage", evidence(watched()), required=["gpu"])["source gpu"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        "It had no value in the whole run: it was never sampled.",
    )


def test_a_required_name_stands_for_cards_and_further_backends() -> None:
    run = evidence(trace("amdgpu:card1"), trace("process:backend-2", 40, start=20))
    found = adjudicate("coverage", run, required=["amdgpu", "process:backend"])
    assert found["source amdgpu:card1"].outcome is Outcome.PASS
    assert found["source process:backend-2"].outcome is Outcome.PASS
    assert not {"source amdgpu", "source process:backend"} & set(found)


def restarted(gone=20.0, back: float | None = 30.0):
    """A process that is away for ten seconds, as the watch tells it."""
    source = "process:backend"
    yield from trace(source, gone, pid=7)
    yield event("vanished", gone, role="backend", pid=7)
    yield sample(source, gone, state="error", reason="process 7 is gone")
    if back is not None:
        yield event("restart", back, role="backend", was_pid=7, is_pid=8)
        yield from trace(source, 60 - back, start=back, pid=8)


@pytest.mark.parametrize("back", [30.0, None])
def test_a_process_that_ended_is_no_gap_of_the_watch(back) -> None:
    found = adjudicate("coverage", evidence(restarted(back=back)), required=[])["source process:backend"]
    assert found.outcome is Outcome.PASS
    assert f"{20 if back is None else 50} readings with a value" in found.answer


def test_a_process_that_is_there_and_not_seen_is_a_gap() -> None:
    unseen = [*trace("process:backend", 20, pid=7), *trace("process:backend", 30, start=30, pid=7)]
    other = event("vanished", 20.0, role="front", pid=6)
    found = adjudicate("coverage", evidence(unseen, other), required=[])["source process:backend"]
    assert found.outcome is Outcome.INCONCLUSIVE


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
    found = adjudicate("coverage", full(more), required=[])["source kernel_log"]
    assert (found.outcome, found.answer) == (outcome, answer)


STARTED, ALL = event("watch_started", 0.0), trace("memory", 60)


@pytest.mark.parametrize("required", [[], ["memory"]])
@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([], "it never told its start"),
        ([STARTED], "it never told its end, so it was killed; it left no sample"),
        (
            [STARTED, trace("memory", 30)],
            "it never told its end, so it was killed; its last sample came 31.0 s before the load's end",
        ),
        (
            [STARTED, trace("memory", 8), told_end(8.0, 8, 8, "SIGTERM")],
            "it ended 52.0 s before the load's end (SIGTERM)",
        ),
        ([event("watch_started", 10.0), ALL, told_end()], "it began 10.0 s after the load's start"),
        ([STARTED, ALL, told_end(had=56)], "it met 56 of 60 ticks"),
        ([STARTED, ALL, event("watch_ended", 60.0)], "how often it looked is not known"),
    ],
)
def test_a_watch_that_missed_a_part_is_told(records, words, required) -> None:
    flat = [r for item in records for r in (item if isinstance(item, list) else [item])]
    found = adjudicate("coverage", evidence(flat), required=required)["watch"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        f"The watch did not see all of the run: {words}.",
    )
    assert found.critical


@pytest.mark.parametrize("had", [57, 60])
def test_a_watch_that_was_there_passes_with_nothing_required(had) -> None:
    run = evidence(STARTED, ALL, told_end(had=had))
    assert adjudicate("coverage", run, required=[])["watch"].outcome is Outcome.PASS


def test_an_unknown_plan_is_inconclusive() -> None:
    found = adjudicate("coverage", evidence(run={"plan": {}}))
    assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}


def test_a_source_is_due_as_often_as_the_watch_said_it_would_be() -> None:
    slow = trace("thermal", 60.0, every=5, hottest_celsius=50)
    found = adjudicate("coverage", full(event("watch_started", 0.0, periods_s={"thermal": 5.0}), slow))
    assert found["source thermal"].outcome is Outcome.INCONCLUSIVE  # the first word counts, and was another
    started = event("watch_started", 0.0, periods_s={"thermal": 5.0})
    records = [started, *watched()[1:], *slow]
    found = adjudicate("coverage", evidence(done("json", 10), done("prose", 3), records, plan=KINDS))
    assert found["source thermal"].outcome is Outcome.PASS
    assert found["source thermal"].answer == "12 readings with a value of 12 due."


@pytest.mark.parametrize(("required", "critical"), [((), False), (("memory", "cpu"), True)])
def test_a_source_that_only_explains_decides_only_where_it_is_required(required, critical) -> None:
    few = trace("cpu", 60.0, every=20, busy_percent=3)
    found = adjudicate("coverage", full(few), required=required)["source cpu"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, critical)


def test_what_is_read_of_a_process_is_due_while_it_is_there() -> None:
    gone = event("vanished", 20.0, role="backend", pid=5)
    before = trace("gpu_memory:backend", 20.0, gtt_bytes=1)
    found = adjudicate("coverage", full(gone, before))
    assert found["source gpu_memory:backend"].answer.startswith("20 readings with a value of 20 due")


def test_sources_that_are_unseen_for_the_same_reason_are_told_together() -> None:
    why = {"state": "unsupported", "reason": "no control groups here"}
    groups = [sample(f"cgroup:{name}", 0.0, **why) for name in ("backend", "front")]
    answer = adjudicate("coverage", full(*groups))["blind sources"].answer
    assert (
        answer
        == "Not seen in this run: cgroup:backend, cgroup:front: 1 unsupported (no control groups here)."
    )


def test_a_run_whose_length_nobody_knows_is_held_to_its_plan_all_the_same() -> None:
    found = adjudicate("coverage", full(plan=KINDS | {"duration_s": None}))["duration"]
    assert (found.outcome, found.limit) == (Outcome.INCONCLUSIVE, "as long as planned")


@pytest.mark.parametrize(("deals", "held"), [([1, 2, 1, 8], 2), ([1, 1, 1], 0), ([], 0)])
def test_cold_prompts_that_the_server_held_already_are_told(deals, held) -> None:
    """As in a second run in a row, whose seed asks the same."""
    pairs = [replace(iteration("pair", n), counts={"cache.deals": d}) for n, d in enumerate(deals)]
    found = adjudicate("coverage", full(*pairs)).get("cold prompts")
    assert (found is not None) == bool(held)
    if found is not None:
        assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
        assert found.answer.startswith(f"In {held} of 4 iterations the server said that it held the ")
