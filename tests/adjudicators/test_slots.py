"""Slots: one that outlives its work fires, busy or frozen; known limits, polling and neighbours do not."""

from typing import Any

import pytest
from msgspec import structs

from soakproof.clock import nanoseconds
from soakproof.judge import Outcome
from soakproof.records import Event, Exchange, Sample
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, sample, trace

FAIL = Outcome.FAIL
SERVER = trace("process:backend", 60, every=5, pid=7)
FREE = event("final_slots", 61.0, busy=0, seeds=[])


def cancelled(seed: int = 501, *, at: float = 0.0, took: float = 3.0, **more: Any) -> Exchange:
    """Cut by the tester in mid-decode."""
    values = {"cancel_planned": "decode: after 20 token events", "cancelled_ns": nanoseconds(at + took)}
    return exchange(f"cut-{seed}", at=at, took=took, seed=seed, **{**values, **more})


def slots(at: float, *busy: tuple[int | None, int | None]) -> Sample:
    """A reading of two slots; each busy one by its seed and its decoded tokens."""
    return sample(
        "slots", at, total=2, busy=len(busy), seeds=[s for s, _ in busy], decoded=[d for _, d in busy]
    )


def busy_until(end: float, seed: int = 501, *, rate: float = 37.5, limit: int = 10**9) -> list[Sample]:
    """A slot that works for a seed until ``end`` and is free after it, polled every 2.5 s for a minute."""
    times = [2.5 * n for n in range(25)]
    return [slots(t, *([(seed, min(limit, int(60 + rate * t)))] if t < end else [])) for t in times]


def test_a_slot_that_is_freed_at_once_passes() -> None:
    found = adjudicate("slots", evidence(cancelled(), busy_until(3.1), SERVER, FREE))
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert set(found) == {"restarted", "released", "end"}
    assert all(f.critical for f in found.values()), "what would fail decides where it passes, too"
    assert "2.5 s" in found["released"].strength


def test_a_slot_that_keeps_decoding_after_its_client_left_fails() -> None:
    found = adjudicate("slots", evidence(cancelled(), busy_until(55), SERVER, FREE))
    assert found["released"].outcome is Outcome.FAIL
    assert found["released"].exchanges == ("cut-501",)
    assert "held a slot for 49.5 s" in found["released"].answer
    assert "tokens generated" in found["released"].answer


def test_a_slot_that_is_frozen_as_busy_fails_too() -> None:
    found = adjudicate("slots", evidence(cancelled(), busy_until(60, limit=212), SERVER, FREE))
    assert found["released"].outcome is Outcome.FAIL
    assert "frozen at 212 tokens" in found["released"].answer


def test_a_slot_that_is_taken_by_the_next_request_is_not_a_leak() -> None:
    neighbour = exchange("next", at=3.2, took=50.0, seed=777)
    found = adjudicate("slots", evidence(cancelled(), neighbour, busy_until(52, 777), SERVER, FREE))
    assert found["released"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "limited",
    [
        {"cancel_planned": "prefill: after 0.5 s", "first": None, "outcome": "unknown"},
        {"cancel_planned": "queued: after 0.5 s", "first": None, "outcome": "unknown"},
        {"stream": False, "cancel_planned": "unstreamed: after 1.0 s"},
    ],
    ids=["prefill", "queued", "unstreamed"],
)
def test_a_known_limit_is_told_as_one_within_its_bound_and_is_a_leak_beyond_it(
    limited: dict[str, Any],
) -> None:
    generated = 10**9 if limited.get("stream") is False else 0  # a stream is cancelled at its first token
    run = evidence(cancelled(**limited), busy_until(50, limit=generated), SERVER, FREE)
    told = adjudicate("slots", run)["released"]
    assert told.outcome is Outcome.PASS
    assert "known limit" in told.answer
    bounds = {"prefill": "20s", "queued": "20s", "unstreamed": "20s"}
    assert adjudicate("slots", run, **bounds)["released"].outcome is Outcome.FAIL


@pytest.mark.parametrize("phase", ["prefill", "queued"])
def test_a_stream_that_goes_on_to_generate_is_a_leak_whenever_its_client_left(phase: str) -> None:
    cut = cancelled(cancel_planned=f"{phase}: after 0.5 s", first=None, outcome="unknown")
    found = adjudicate("slots", evidence(cut, busy_until(30), SERVER, FREE))["released"]
    assert found.outcome is Outcome.FAIL
    assert {f.name: f.value for f in found.figures}["generated for nobody"] > 500


def test_a_slot_still_busy_after_the_load_fails() -> None:
    left = event("final_slots", 75.0, busy=1, seeds=[501])
    found = adjudicate("slots", evidence(cancelled(), busy_until(3.1), SERVER, left))
    assert found["end"].outcome is Outcome.FAIL
    assert found["end"].exchanges == ("cut-501",)


def test_a_slot_seen_busy_right_after_its_request_is_no_leak_where_nobody_could_look_again() -> None:
    """As where the guard ends the server at once."""
    left = event("final_slots", 3.2, busy=1, seeds=[501])
    found = adjudicate("slots", evidence(cancelled(), SERVER, slots(2.5, (501, 90)), left))["end"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "had only just ended" in found.answer


def test_a_request_that_its_front_cannot_cancel_may_still_run_after_the_load() -> None:
    unstreamed = cancelled(stream=False, cancel_planned="unstreamed: after 1.0 s")
    left = event("final_slots", 75.0, busy=1, seeds=[501])
    found = adjudicate("slots", evidence(unstreamed, busy_until(3.1), SERVER, left))
    assert found["end"].outcome is Outcome.PASS
    assert "not cancelled" in found["end"].answer


def test_a_stranger_that_is_busy_after_the_load_convicts_nobody() -> None:
    left = event("final_slots", 75.0, busy=1, seeds=[99])
    found = adjudicate("slots", evidence(cancelled(), busy_until(3.1), SERVER, left))
    assert found["end"].outcome is Outcome.INCONCLUSIVE


def test_without_a_look_after_the_load_its_end_is_unknown() -> None:
    run = evidence(cancelled(), busy_until(3.1), SERVER, duration=62.0)
    assert adjudicate("slots", run)["end"].outcome is Outcome.INCONCLUSIVE
    blind = evidence(cancelled(), SERVER, slots(30.0), event("final_slots", 70.0, busy=None, reason="404"))
    assert adjudicate("slots", blind)["end"].outcome is Outcome.INCONCLUSIVE
    later = evidence(cancelled(), busy_until(3.1), SERVER, slots(65.0), duration=60.0)
    assert adjudicate("slots", later)["end"].outcome is Outcome.PASS


def test_a_restart_fails_unless_the_policy_allows_it() -> None:
    restart = event("restart", 20.0, role="backend", was_pid=7, is_pid=8)
    run = evidence(cancelled(), busy_until(3.1), SERVER, restart, FREE)
    found = adjudicate("slots", run)
    assert found["restarted"].outcome is Outcome.FAIL
    assert "backend at 20.0 s" in found["restarted"].answer
    assert adjudicate("slots", run, restarts=1)["restarted"].outcome is Outcome.PASS


def gone(role: str = "backend", at: float = 20.0) -> list[Event | Sample]:
    """A process that ends and is followed by none, as the watch tells it."""
    source = f"process:{role}"
    there = [s for s in trace(source, 60, every=5, pid=7) if s.due_ns < nanoseconds(at)]
    away = sample(source, at, state="error", pid=7, reason="process 7 is gone")
    return [*there, event("vanished", at, role=role, pid=7), away]


@pytest.mark.parametrize("role", ["front", "backend"])
@pytest.mark.parametrize("at", [20.0, 61.5])
def test_a_server_that_ended_and_did_not_come_back_fails_whenever_it_was(role: str, at: float) -> None:
    found = adjudicate("slots", evidence(cancelled(), gone(role, at), slots(1.0)), restarts=5)["gone"]
    assert (found.outcome, found.fault, found.critical) == (Outcome.FAIL, role, True)
    assert f"{role} at {at:.1f} s, process 7" in found.answer


def test_a_front_that_takes_its_backend_with_it_is_the_one_at_fault() -> None:
    both = evidence(cancelled(), gone("backend", 20.0), gone("front", 20.5), slots(1.0))
    assert adjudicate("slots", both)["gone"].fault == "front"


@pytest.mark.parametrize(
    ("role", "fault"), [("front", "front"), ("front's child", "front"), ("backend", "backend")]
)
def test_a_restart_is_the_fault_of_the_process_that_came_anew(role: str, fault: str) -> None:
    anew = event("restart", 20.0, role=role, was_pid=7, is_pid=8)
    assert adjudicate("slots", evidence(cancelled(), SERVER, anew, FREE))["restarted"].fault == fault


TRIP = [
    event("guard_trip", 19.0, caused_by=[]),
    event("guard_action", 21.0, done=True, pid=7),
]


def test_what_the_guard_ended_is_not_the_servers_end() -> None:
    anew = event("restart", 22.0, role="backend", was_pid=7, is_pid=8)
    found = adjudicate("slots", evidence(cancelled(), gone(), anew, TRIP, busy_until(3.1), SERVER, FREE))
    assert "gone" not in found
    assert found["restarted"].outcome is Outcome.PASS
    before = adjudicate("slots", evidence(cancelled(), gone(at=15.0), TRIP, slots(1.0)))
    assert before["gone"].outcome is Outcome.FAIL
    front = adjudicate("slots", evidence(cancelled(), gone("front"), TRIP, slots(1.0)))
    assert front["gone"].outcome is Outcome.FAIL
    stopped = adjudicate("slots", evidence(cancelled(), gone(), TRIP[:1], slots(1.0)))
    assert stopped["gone"].outcome is Outcome.FAIL, "a guard that only stops the load ends no server"


def test_one_that_came_back_and_one_of_another_model_are_not_gone() -> None:
    back = trace("process:backend", 30, start=30, every=5, pid=8)
    run = evidence(cancelled(), gone(), back, gone("backend-2"), busy_until(3.1), FREE)
    assert "gone" not in adjudicate("slots", run)


def test_a_testbed_that_ended_with_its_killed_tester_is_not_gone() -> None:
    killed: dict[str, Any] = {"target": {"embedded": True}, "run": {"ended": None, "load_ended_ns": None}}
    alive = trace("tester", 19, node="load")
    assert "gone" not in adjudicate("slots", evidence(gone(), alive, **killed))
    went_on = trace("tester", 40, node="load")
    assert adjudicate("slots", evidence(gone(), went_on, **killed))["gone"].outcome is Outcome.FAIL
    served = {**killed, "target": {"testbed": True}}  # a server of the user's does not end with us
    assert adjudicate("slots", evidence(gone(), alive, **served))["gone"].outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (["probe"], ["beta"], Outcome.INCONCLUSIVE),
        (["probe", "beta"], ["beta"], Outcome.FAIL),  # it was there before: nobody took the place
        (["probe"], [], Outcome.FAIL),
        (["probe"], ["probe"], Outcome.FAIL),
    ],
)
def test_a_model_that_another_clients_model_took_the_place_of_is_not_the_servers_end(
    before: list[str], after: list[str], outcome: Outcome
) -> None:
    health = [sample("health", 10.0, models_loaded=before), sample("health", 30.0, models_loaded=after)]
    target = {"model": "llm", "model_resolved": "probe"}
    found = adjudicate("slots", evidence(cancelled(), gone(), health, target=target))["gone"]
    assert found.outcome is outcome
    front = adjudicate("slots", evidence(cancelled(), gone("front"), health, target=target))["gone"]
    assert front.outcome is Outcome.FAIL


def read_again(times: int, tasks: list[int], **more: Any) -> list[Sample]:
    """The same document, as if it were read anew every 2.5 s."""
    values = {"total": 2, "busy": 1, "seeds": [501], "decoded": [60], "tasks": [4], **more}
    return [sample("slots", 2.5 * n, last_tasks=tasks, **values) for n in range(times)]


def come_and_go(n: int, **more: Any) -> list[Exchange]:
    return [exchange(f"x{i}", at=1.0 + 2 * i, took=1.0, iteration=i, **more) for i in range(n)]


def test_readings_that_stay_the_same_while_requests_come_and_go_are_old() -> None:
    """No slot is said to be held then, nor to be free at the end."""
    run = evidence(cancelled(took=0.5), come_and_go(8), read_again(9, [4, 3]), SERVER, FREE)
    found = adjudicate("slots", run)
    assert set(found) == {"restarted", "stale"}
    assert (found["stale"].outcome, found["stale"].critical) == (Outcome.INCONCLUSIVE, True)
    assert "The readings of the slots are old: from 0.0 to 20.0 s" in found["stale"].answer


@pytest.mark.parametrize(
    ("requests", "readings", "target"),
    [
        (come_and_go(8), [r for n in range(9) for r in read_again(9, [4, n])[n : n + 1]], {}),
        (come_and_go(2), read_again(9, [4, 3]), {}),
        (come_and_go(8, outcome="fail"), read_again(9, [4, 3]), {}),
        (come_and_go(8), read_again(9, [4, 3], busy=0, seeds=[]), {"asked_recipe": "collection.router"}),
        (come_and_go(8), read_again(9, [4, 3], total=None), {}),
        (come_and_go(8, model_asked="another"), read_again(9, [4, 3]), {}),
    ],
    ids=["stuck beside one that works", "few", "none answered", "a router", "tasks untold", "another model"],
)
def test_slots_that_truly_stay_as_they_are_are_not_old(requests, readings, target) -> None:
    run = evidence(requests, readings, SERVER, FREE, target=target)
    assert "stale" not in adjudicate("slots", run)


def listed(*pids: int) -> list[Sample]:
    """A health document that lists these processes all the time."""
    return trace("health", 60, every=2, pids=list(pids), models_loaded=["probe"])


def test_a_health_document_that_lists_what_has_ended_while_answers_come_is_old() -> None:
    found = adjudicate("slots", evidence(gone(), come_and_go(25), listed(7), FREE))
    assert "gone" not in found
    assert found["stale health"].outcome is Outcome.INCONCLUSIVE
    assert "it goes on to list process 7" in found["stale health"].answer


def test_a_process_that_ended_is_gone_where_health_says_so_or_nothing_is_answered() -> None:
    assert adjudicate("slots", evidence(gone(), come_and_go(25), listed(), FREE))["gone"].outcome is FAIL
    assert adjudicate("slots", evidence(gone(), listed(7), FREE))["gone"].outcome is FAIL


def test_a_request_that_was_sent_twice_is_no_slot_that_outlived_its_work() -> None:
    twin = [sample("slots", 1.0, total=2, busy=2, seeds=[501, 501], tasks=[4, 5], decoded=[9, 9])]
    run = evidence(cancelled(), twin, busy_until(55)[1:], SERVER, FREE)
    assert adjudicate("slots", run)["released"].outcome is Outcome.PASS


def test_a_slot_that_outlived_its_work_where_requests_are_sent_twice_may_be_a_twin() -> None:
    other = exchange("other", at=0.5, took=1.0, seed=777)
    twin = [sample("slots", 1.0, total=2, busy=2, seeds=[777, 777], tasks=[4, 5], decoded=[9, 9])]
    found = adjudicate("slots", evidence(cancelled(), other, twin, busy_until(55), SERVER, FREE))["released"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "server")
    assert found.answer.endswith("it may be such a twin.")


def test_unseen_slots_and_processes_are_inconclusive() -> None:
    denied = sample("slots", 0.0, state="unsupported", reason="501 slots endpoint is disabled")
    strict = adjudicate("slots", evidence(cancelled(), denied))
    assert strict["slots"].outcome is strict["restarted"].outcome is Outcome.INCONCLUSIVE
    assert strict["slots"].critical
    assert "disabled" in strict["slots"].answer
    lenient = adjudicate("slots", evidence(cancelled(), denied), required=False)
    assert not any(f.critical for f in lenient.values())


def test_readings_that_do_not_tell_whether_a_slot_is_busy_saw_none() -> None:
    whole = [*busy_until(3.1), slots(62.5)]

    def judged(told: int, **values: Any) -> Any:
        dark = [structs.replace(s, values={"total": 2, **values}) for s in whole[told:]]
        return adjudicate("slots", evidence(cancelled(), whole[:told], dark, SERVER, FREE))

    for dark in (judged(0), judged(0, busy=None)):
        assert (dark["slots"].outcome, dark["slots"].critical) == (Outcome.INCONCLUSIVE, True)
        assert "no reading tells how many are busy" in dark["slots"].answer
        assert "released" not in dark
    seldom = judged(6)["busy"]
    assert (seldom.outcome, seldom.critical) == (Outcome.INCONCLUSIVE, True)
    assert "not known in 20 of 26 readings" in seldom.answer
    assert "busy" not in judged(25)


def test_processes_that_could_not_be_read_were_not_seen() -> None:
    denied = sample("process:backend", 1.0, state="denied", reason="watch as root")
    found = adjudicate("slots", evidence(cancelled(), busy_until(3.1), denied, FREE))["restarted"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)


def test_slots_that_work_for_requests_without_a_seed_say_so() -> None:
    looks = [sample("slots", 2.5 * n, total=2, busy=1, seeds=[None], seedless=1) for n in range(20)]
    found = adjudicate("slots", evidence(cancelled(), looks, SERVER, FREE))["seeds"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "worked for a request without a seed, though each of this run has one" in found.answer


def test_slots_that_do_not_tell_seeds_cannot_show_a_release() -> None:
    found = adjudicate("slots", evidence(cancelled(), busy_until(50, None), SERVER, FREE))
    assert found["seeds"].outcome is Outcome.INCONCLUSIVE
    assert found["seeds"].critical
    assert "released" not in found


def test_somebody_elses_work_is_told_and_decides_where_the_policy_wants_to_be_alone() -> None:
    run = evidence(cancelled(), busy_until(3.1), slots(31.0, (424242, 3)), SERVER, FREE)
    assert not adjudicate("slots", run)["strangers"].critical
    found = adjudicate("slots", run, alone=True)["strangers"]
    assert found.critical
    assert found.outcome is Outcome.INCONCLUSIVE


def health(at: float, *, ok: bool = True, alive: bool | None = True) -> Any:
    backends = None if alive is None else [{"role": "backend", "alive": alive}]
    reason = "" if ok else "status 500"
    return sample("health", at, status_code=200 if ok else 500, ok=ok, backends=backends, reason=reason)


@pytest.mark.parametrize("ill", [{"ok": False, "alive": None}, {"alive": False}])
def test_a_server_that_says_it_is_not_well_is_told(ill: dict[str, Any]) -> None:
    told = [health(float(at), **(ill if at in (20, 21, 40) else {})) for at in range(60)]
    found = adjudicate("slots", evidence(told))["health"]
    assert (found.outcome, found.fault) == (Outcome.INCONCLUSIVE, "server")
    assert found.answer.startswith("In 3 of 60 readings its health said that it, or its backend, is ill")


def test_a_front_whose_sign_of_life_fails_is_told() -> None:
    told = [
        sample("live", float(at), status_code=503 if at in (9, 10) else 200, ok=at > 10)
        for at in range(9, 60)
    ]
    found = adjudicate("slots", evidence(told))["live"]
    assert found.answer.startswith("In 2 of 51 readings its live said")


def test_health_that_is_well_or_ill_for_a_reason_is_not_told() -> None:
    well = [health(float(at)) for at in range(60)]
    assert "health" not in adjudicate("slots", evidence(well))
    once = [health(float(at), ok=at != 30) for at in range(60)]
    assert "health" not in adjudicate("slots", evidence(once))
    after = [health(float(at), ok=at not in (30, 31)) for at in range(60)]
    restarted = event("restart", 29.0, role="backend", was_pid=1, is_pid=2)
    assert "health" not in adjudicate("slots", evidence(after, restarted))
    early = [health(float(at), ok=at > 5) for at in range(60)]
    assert "health" not in adjudicate("slots", evidence(early, run={"load_started_ns": nanoseconds(6.0)}))


def made(n: int, at: float, **more: Any) -> Exchange:
    """An answer that is made for ten seconds from a second after its sending on."""
    times = {"first_token_ns": nanoseconds(at + 1), "last_token_ns": nanoseconds(at + 11)}
    values = times | {"timings": {"predicted_ms": 10_000.0}, "seed": 900 + n}
    return exchange(f"made-{n}", at=at, took=11.5, **{**values, **more})


def test_slots_that_are_idle_while_answers_are_made_show_no_leak_either() -> None:
    answers = [made(n, 12.0 * n) for n in range(4)]
    looks = [slots(2.5 * n) for n in range(20)]
    found = adjudicate("slots", evidence(answers, looks, SERVER, FREE))
    assert (found["idle"].outcome, found["idle"].critical) == (Outcome.INCONCLUSIVE, True)
    assert found["idle"].figures[0].value == found["idle"].figures[0].n
    assert found["idle"].exchanges == ("made-0", "made-1", "made-2", "made-3")


@pytest.mark.parametrize(
    "answers",
    [
        [made(n, 12.0 * n, timings={"predicted_ms": 90.0}) for n in range(4)],  # held back on their way
        [made(n, 12.0 * n, timings=None) for n in range(4)],
        [made(n, 12.0 * n, stream=False) for n in range(4)],
        [made(n, 12.0 * n, model_asked="another") for n in range(4)],
        [],
    ],
)
def test_slots_are_rightly_idle_where_no_answer_of_theirs_was_surely_made(answers: list[Exchange]) -> None:
    target = {"model": "m", "slots": 2}
    answers = [structs.replace(e, model_asked=e.model_asked or "m") for e in answers]
    run = evidence(answers, [slots(2.5 * n) for n in range(20)], SERVER, FREE, target=target)
    assert "idle" not in adjudicate("slots", run)


def test_a_few_idle_looks_among_many_are_passed_over() -> None:
    answers = [made(n, 12.0 * n) for n in range(4)]
    looks = [slots(2.5 * n, *([] if n % 3 else [(900 + int(2.5 * n // 12), 10)])) for n in range(20)]
    mostly = [slots(2.5 * n, *([(900 + int(2.5 * n // 12), 10)] if n % 3 else [])) for n in range(20)]
    assert "idle" in adjudicate("slots", evidence(answers, looks, SERVER, FREE))
    assert "idle" not in adjudicate("slots", evidence(answers, mostly, SERVER, FREE))


@pytest.mark.parametrize(
    ("details", "told"),
    [
        (
            {"what": "end", "done": True, "pid": 77, "killed": [77]},
            "ended the backend, process 77, by SIGKILL, since SIGTERM was not enough",
        ),
        ({"what": "end", "done": True, "pid": 77, "killed": []}, "ended the backend, process 77, by SIGTERM"),
        ({"what": "end", "done": False, "reason": "no process"}, "did not end the backend: no process"),
        ({"what": "unload", "done": True}, "had the model unloaded"),
        (
            {"what": "unload", "done": False, "reason": "busy"},
            "asked in vain for the model's unloading: busy",
        ),
    ],
)
def test_what_the_guard_did_to_the_server_is_told(details: dict[str, Any], told: str) -> None:
    acted = structs.replace(event("guard_action", 10.0), details=details)
    run = evidence(SERVER, FREE, event("guard_trip", 5.0), acted)
    found = adjudicate("slots", run)["guard"]
    assert found.answer == f"The run's own guard {told}."
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
