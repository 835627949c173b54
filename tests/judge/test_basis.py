"""What a verdict rests on, and what it says nothing of, follows from what was run."""

from typing import Any

import pytest

from soakproof.judge import Evidence
from soakproof.judge.basis import caveats, plan_duration, rests_on
from soakproof.judge.identity import identity
from soakproof.testing.evidence import event, evidence, exchange, iteration, opened, trace

SOURCES = {
    "memory": "the host's memory",
    "slots": "the slots",
    "kernel_log": "the kernel log",
    "process:backend": "the server's processes",
    "amdgpu:card0": "a GPU",
    "server_log:engine.log": "the server's log",
}


def run(*more: Any, testbed: bool = False, **values: Any) -> Evidence:
    values.setdefault("plan", {"source": 'duration = "30m"', "duration_s": 120.0})
    values.setdefault("duration", 120.0)
    target = {"kind": "lemonade", "base_url": "http://127.0.0.1:1", "model": "m"}
    target |= {"testbed": testbed, "embedded": testbed}
    sent = [exchange(f"x{n}", at=n, iteration=n) for n in range(3)]
    return evidence(sent, [iteration(number=n) for n in range(3)], *more, target=target, **values)


def seen() -> list[Any]:
    return [sample for source in SOURCES for sample in trace(source, 5.0, x=1)]


def test_it_says_how_long_on_what_how_much_and_against_what() -> None:
    told = rests_on(run(testbed=True), None, None)
    assert told == (
        "2 min of load (its plan has 30 min) on the embedded testbed: 3 requests in 3 completed iterations "
        "of 1 kind; no baseline."
    )


def test_a_server_is_named_with_its_model_and_a_whole_run_needs_no_word_on_its_length() -> None:
    told = rests_on(run(duration=1800.0), None, None)
    assert told.startswith("30 min of load on Lemonade at http://127.0.0.1:1 with probe: ")


def test_requests_without_an_end_were_sent_all_the_same() -> None:
    told = rests_on(run(opened(exchange("lost"))), None, None)
    assert "4 requests in 3 completed" in told


def test_a_baseline_is_named_and_so_is_one_that_could_not_be_used() -> None:
    before = run(id="before")
    assert rests_on(run(), before, before).endswith("against the baseline before (2 min).")
    assert rests_on(run(), before, None).endswith("the baseline before (2 min) could not be compared with.")


@pytest.mark.parametrize(
    ("plan", "seconds"),
    [
        ({"source": 'duration = "30m"', "duration_s": 5.0}, 1800),
        ({"source": "users = 1", "duration_s": 5.0}, 5),
        ({"source": "", "duration_s": 5.0}, 5),
        ({"source": "duration = [", "duration_s": 5.0}, None),
        ({"source": "duration = [1]"}, None),
        ({"source": "duration = 'soon'"}, None),
    ],
)
def test_the_plans_own_duration(plan: dict[str, Any], seconds: float | None) -> None:
    assert plan_duration(evidence(plan={"duration_s": None, **plan})) == seconds


def test_a_load_without_an_end_has_no_length() -> None:
    told = run(run={"load_ended_ns": None}, plan={"source": "?", "duration_s": None})
    assert rests_on(told, None, None).startswith("a load of unknown length on ")


def test_caveats_of_a_short_run_on_the_testbed() -> None:
    told = list(caveats(run(testbed=True, plan={"left_out": ["cache"]}), None))
    assert told[0] == "The target was the testbed: nothing is said of any other server or model."
    assert told[1] == "Kinds of the plan that were not asked: cache."
    assert "Nothing is said of faster or slower than before." in told
    assert "2 min can neither prove nor exclude a leak." in told
    assert told[-1].startswith("Not seen: the kernel log, the host's memory, ")


def test_a_changed_number_of_users_is_told_and_is_not_the_same() -> None:
    change = event("users_changed", at=30.0, was=4, now=8)
    told = run(change, plan={"users": 4}, run={"users_changed": [{"users": 8, "after_s": 30.0}]})
    assert "The number of users was changed while it ran: 8 after 30 s." in list(caveats(told, None))
    assert identity(told)["users"] == "4, then 8"


def test_a_long_run_on_a_server_that_was_seen_and_compared_has_none() -> None:
    whole = run(seen(), duration=7200.0)
    assert list(caveats(whole, whole)) == []


@pytest.mark.parametrize("source", SOURCES)
def test_what_was_not_seen_is_named(source: str) -> None:
    whole = run([s for s in seen() if s.source != source], duration=7200.0)
    assert list(caveats(whole, whole)) == [f"Not seen: {SOURCES[source]}."]


def test_an_end_by_a_crash_is_told() -> None:
    whole = run(seen(), duration=7200.0, recovered=True)
    assert list(caveats(whole, whole)) == [
        "The run did not end by itself, and was sealed later: what was lost is unknown."
    ]
