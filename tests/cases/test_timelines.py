"""Timelines of cancels, waits, wedges, evictions and reloads: each judged as its case demands."""

import subprocess
import sys
from pathlib import Path

import pytest
import timelines
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import fails, of, verdict
from misbehaving import Connection, document, request_of, serving
from msgspec.structs import replace
from watching import answering, look

from soakproof.catalog import Catalog
from soakproof.children import end
from soakproof.gates.transport import make_client
from soakproof.judge import Outcome
from soakproof.plan import load_plan
from soakproof.records import Exchange, Failure, Record, Sample
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, sample, trace
from soakproof.watch.health import Health
from soakproof.watch.http import Http
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig

FREE = event("final_slots", 10**5, busy=0, seeds=[])


def shifted(records: list[Record], seeds: int) -> list[Record]:
    """The same with other seeds."""
    made: list[Record] = []
    for record in records:
        if isinstance(record, Exchange):
            made.append(replace(record, seed=record.seed + seeds))
        elif isinstance(record, Sample) and "seeds" in record.values:
            told = [s if s is None else s + seeds for s in record.values["seeds"]]
            made.append(replace(record, values={**record.values, "seeds": told}))
        else:
            made.append(record)
    return made


@pytest.mark.case(1)
@given(seeds=st.integers(0, 2**31))
@settings(max_examples=10)
def test_a_slot_that_decodes_on_fails_with_its_tokens(seeds: int) -> None:
    records = timelines.read("01-cancel-slot-keeps-decoding.timeline.jsonl", {135: "A"})
    found = adjudicate("slots", evidence(shifted(records, seeds), duration=40))["released"]
    assert found.outcome is Outcome.FAIL
    assert found.exchanges == ("A-0",)
    assert (
        "A-0 (decode) held a slot for 30.0 s after its end, from 60 to 435 tokens generated" in found.answer
    )
    assert {f.name: f.value for f in found.figures}["generated for nobody"] == 375


@pytest.mark.case(1)
def test_slots_without_seeds_show_it_by_their_task() -> None:
    records = timelines.read("01-cancel-slot-keeps-decoding.timeline.jsonl")
    run = evidence(records, duration=40)
    assert adjudicate("slots", run)["released"].outcome is Outcome.INCONCLUSIVE  # it may be somebody else's
    assert adjudicate("slots", run, alone=True)["released"].outcome is Outcome.FAIL
    new_task = timelines.rows("01-cancel-slot-keeps-decoding.timeline.jsonl")
    reader = timelines.Reader({})
    for number, row in enumerate(new_task):
        if row["src"] == "probe:/slots":
            row["body"][0]["id_task"] += number  # each look finds another task: the slot was given on
        reader.read(row)
    assert "released" not in adjudicate("slots", evidence(reader.records, duration=40), alone=True)


@pytest.mark.case(2)
def test_what_was_cancelled_in_the_queue_and_is_generated_all_the_same() -> None:
    records = timelines.read(
        "02-cancelled-queued-tasks-still-run.timeline.jsonl", {11: "B", 12: "C"}, every=2.5
    )
    found = adjudicate("slots", evidence(records, duration=185))["released"]
    assert found.outcome is Outcome.FAIL
    assert set(found.exchanges) == {"B-0", "C-0"}
    survivor = next(r for r in records if isinstance(r, Exchange) and r.id == "D-0")
    assert survivor.first_token_ns is not None
    alone = 0.3  # seconds that it takes without the dead generations before it
    assert (survivor.first_token_ns - survivor.sent_ns) / 1e9 > 100 * alone


@pytest.mark.case(2)
def test_the_same_queue_where_the_dead_are_dropped_is_healthy() -> None:
    dropped = [
        exchange("B-0", at=0.5, took=0.5, first=None, outcome="unknown", cancel_planned="queued: x", seed=1),
        exchange("D-0", at=0.7, took=65.0, first=0.95, seed=2),
        *[sample("slots", 2.5 * n, total=1, busy=1, seeds=[9], decoded=[5 * n]) for n in range(24)],
        sample("slots", 60.5, total=1, busy=1, seeds=[1], decoded=[0]),  # started, and noticed then
        sample("slots", 63.0, total=1, busy=1, seeds=[2], decoded=[3]),
    ]
    found = adjudicate("slots", evidence(dropped, duration=66))["released"]
    assert found.outcome is Outcome.PASS
    assert "known limit" in found.answer


@pytest.mark.case(3)
def test_a_frozen_slot_and_the_requests_behind_it_fail_however_busy_the_gpu_is() -> None:
    name = "03-mtp-cancel-spin.timeline.jsonl"
    log = (INPUTS / "03-mtp-cancel-spin.server-log.txt").read_text()
    records = timelines.read(name, {47: "A"}, every=2.5)
    later = log.count("cancel task, id_task = ")  # each is one more client that gave up
    gave_up = [
        exchange(
            f"later-{n}", at=70 + 61 * n, took=60, outcome="fail", seed=n, failure=Failure.FIRST_TOKEN_TIMEOUT
        )
        for n in range(later)
    ]
    busy_gpu = trace("amdgpu:card1", 3670, every=60, busy_percent=100, gtt_used_bytes=2**30)
    judged = verdict(evidence(records, gave_up, busy_gpu, duration=3700))
    assert {"slots released", "functional exchanges: first_token_timeout"} <= fails(judged)
    assert "frozen at 212 tokens" in of(judged, "slots", "released").answer
    assert f"{1 + later} exchanges" in of(judged, "functional", "exchanges: first_token_timeout").answer


@pytest.mark.case(5)
def test_a_hold_in_prefill_is_told_by_the_prompts_tokens() -> None:
    records = timelines.read("05-proxy-prefill-disconnect.timeline.jsonl", {7: "A"})
    run = evidence(records, duration=60)
    told = adjudicate("slots", run)["released"]
    assert told.outcome is Outcome.PASS  # a front that is known for it, within its own bound
    assert "known limit" in told.answer
    assert "from 8192 to 57344 tokens of its prompt processed" in told.answer
    strict = adjudicate("slots", run, prefill="20s")["released"]
    assert strict.outcome is Outcome.FAIL
    assert "held a slot for 37.0 s" in strict.answer


UNDER_GEVENT = """
import sys
import gevent.monkey
gevent.monkey.patch_all()
from replaying import PATIENT, Kept, kind, requests
from soakproof.clock import RunClock
from soakproof.load.driver import Driver
from soakproof.load.slots import SlotsReader
from soakproof.load.transport import Endpoint
clock = RunClock.start()
for place, name in enumerate(("29-utf8-split.script.json", "81-probe-under-reasoning-floor.json 0")):
    endpoint = Endpoint(f"{sys.argv[1]}/v1/chat/completions", {})
    driver = Driver(
        requests=requests(place), clock=clock, endpoint=endpoint, bounds=PATIENT, sink=Kept(),
        slots=SlotsReader(None, {}, clock),
    )
    driver.run(kind(name), 0)  # one is streamed, one is not
    driver.close()
"""


@pytest.mark.case(6)
def test_no_request_of_either_driver_detaches_itself() -> None:
    heads: list[bytes] = []

    def record(connection: Connection) -> None:
        head, _ = request_of(connection)
        heads.append(head)
        connection.sendall(document("500 Internal Server Error", {"error": "recorded"}))

    with serving(record) as url:
        paths = [str(Path(__file__).parent), str(INPUTS.parents[1])]
        command = [sys.executable, "-c", UNDER_GEVENT, url]
        subprocess.run(command, env={"PYTHONPATH": ":".join(paths)}, check=True, timeout=60)
    sent = {line.split(b":")[0].decode().lower() for head in heads for line in head.split(b"\r\n")[1:]}
    assert len(heads) == 2
    assert sent | {name.lower() for name in make_client({}).headers} == {
        *("host", "content-type", "content-length", "accept", "accept-encoding", "user-agent", "connection")
    }


@pytest.mark.case(6)
def test_an_answer_that_its_front_detached_is_not_applicable() -> None:
    records = timelines.read("06-resumable-stream-by-design.timeline.jsonl", {21: "A"}, every=0.5)
    run = evidence(records, duration=20)
    assert adjudicate("slots", run)["released"].outcome is Outcome.FAIL
    told = adjudicate("slots", run, detached=True)["released"]
    assert told.outcome is Outcome.INCONCLUSIVE
    assert not told.critical
    assert "Not applicable" in told.answer


@pytest.mark.case(7)
@pytest.mark.parametrize("every", [2.5, 10.0, 30.0])
def test_a_request_that_an_idle_server_swallows_shows_both_facts(every: float) -> None:
    records = timelines.read("07-idle-slot-swallows-request.timeline.jsonl", every=every)
    judged = verdict(evidence(records, duration=601))
    assert {"scheduling lost", "functional exchanges: headers_timeout"} <= fails(judged)
    answer = of(judged, "scheduling", "lost").answer
    assert "every slot was free" in answer
    assert "worse than slow" in answer
    assert "waited 599.0 s and had no token, nor any response headers" in answer
    assert "health answered well" in answer


@pytest.mark.case(12)
def test_a_leak_of_a_system_message_is_named_with_its_age() -> None:
    writer, reader = timelines.rows("12-system-prompt-leak-after-days.timeline.jsonl")
    codes = {"DESK-77": "DCSK-7797", "PELICAN-42": "PXLC-4242"}  # in the form that our scenarios give them

    def ours(text: str) -> str:
        for told, code in codes.items():
            text = text.replace(told, code)
        return text

    run = evidence(
        exchange(
            "desktop",
            at=writer["t_s"],
            kind="isolation",
            seed=1,
            model_asked="gemma",
            secrets=tuple(codes.values()),
            text=ours(writer["response"]),
        ),
        exchange("between", at=90_000, kind="isolation", seed=2, model_asked="another", text="Hello."),
        exchange(
            "bot",
            at=reader["t_s"],
            kind="isolation",
            seed=3,
            model_asked="gemma",
            text=ours(reader["response"]),
        ),
        duration=172_900,
    )
    found = adjudicate("isolation", run)["foreign"]
    assert found.outcome is Outcome.FAIL
    assert found.exchanges == ("bot", "desktop")
    assert "belongs to desktop (isolation" in found.answer
    assert "172799" in found.answer.replace(",", "")


@pytest.mark.case(20)
def test_slots_that_hang_while_health_is_well_are_a_finding_of_their_own() -> None:
    records = timelines.read("20-wedge-mid-decode.timeline.jsonl", every=10, stalls={"A"})
    judged = verdict(evidence(records, duration=350))
    assert {"scheduling wedged", "functional exchanges: stall"} <= fails(judged)
    assert "health answered well each time" in of(judged, "scheduling", "wedged").answer


@pytest.mark.case(35)
@given(seeds=st.integers(0, 10**6))
@settings(max_examples=5)
def test_a_request_that_all_others_overtake_is_seen(seeds: int) -> None:
    records = timelines.read("35-deferred-queue-starvation.timeline.jsonl")
    sent = {r.seed: (r.sent_ns / 1e9, r.done_ns / 1e9) for r in records if isinstance(r, Exchange)}
    starved = timelines.seed_of("X")
    slots = []
    for n in range(9):  # the one slot as the watch sees it: never at work for X
        at = 2.5 * n
        busy = [s for s, (start, end) in sent.items() if start <= at < end and s != starved]
        slots.append(sample("slots", at, total=1, busy=len(busy), seeds=busy, decoded=[1] * len(busy)))
    run = evidence(shifted([*records, *slots], seeds), duration=22)
    found = adjudicate("scheduling", run)["overtaken"]
    assert found.outcome is Outcome.FAIL
    assert found.exchanges == ("X-0",)
    assert fails(verdict(run)) == {"scheduling overtaken"}  # nothing else shows it: each request succeeded


@pytest.mark.case(36)
@pytest.mark.parametrize("every", [None, 5.0])
def test_probes_that_a_long_prefill_silences_are_unknown_and_no_failure(every: float | None) -> None:
    records = timelines.read("36-probes-blocked-in-prefill.timeline.jsonl", every=every)
    judged = verdict(evidence(records, duration=1961))
    assert fails(judged) == set()
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert "timeout" in of(judged, "coverage", "source health").answer
    assert "timeout" in of(judged, "coverage", "blind sources").answer


LOADED = {"models_loaded": ["alpha"], "ok": True, "status_code": 200}


@pytest.mark.case(57)
def test_a_stream_that_was_cut_by_an_eviction_is_not_one_that_a_crash_cut() -> None:
    records = timelines.read("57-evicted-mid-stream.timeline.jsonl")
    cut = next(r for r in records if isinstance(r, Exchange) and r.id == "A-0")
    target = {"model": "probe", "model_resolved": "alpha"}
    before = sample("health", 8.1, **LOADED)  # it streamed from that model
    evicted = adjudicate("functional", evidence(records, before, target=target))
    assert cut.failure is Failure.RESET
    told = evicted["exchanges: reset"]
    assert told.outcome is Outcome.FAIL
    assert "cut by an eviction (beta was loaded in place of alpha)" in told.answer
    crash = [before, event("vanished", 9.2, role="backend", pid=7), sample("health", 9.1, **LOADED)]
    crashed = adjudicate("functional", evidence(cut, crash, target=target))["exchanges: reset"]
    assert "the server's backend had ended" in crashed.answer
    assert "eviction" not in crashed.answer


@pytest.mark.case(57)
@pytest.mark.parametrize(
    ("said", "loaded"),
    [
        ({"model_loaded": "beta"}, ["beta"]),
        ({"model_loaded": None}, []),
        ({}, None),
        ({"model_loaded": 7}, None),
    ],
)
def test_the_one_model_of_an_older_front_is_told_as_the_list_of_a_newer_one(
    said: dict[str, object], loaded: list[str] | None
) -> None:
    with answering({"/api/v1/health": document("200 OK", {"status": "ok", **said})}) as url:
        config = WatchConfig(target={"kind": "lemonade", "base_url": url, "prefix": "/api/v1"})
        reading = look(Health(config, Http(config), Known(config), 10))
    assert reading.values["models_loaded"] == loaded


@pytest.mark.case(60)
@given(pids=st.lists(st.integers(1000, 4_000_000), min_size=2, max_size=12, unique=True))
@settings(max_examples=10)
def test_a_reload_for_every_request_degrades_a_run_without_an_error(pids: list[int]) -> None:
    reader = timelines.Reader({})
    for row in timelines.rows("60-reload-storm.timeline.jsonl"):
        if row["event"].startswith("runner"):
            load = int(row["event"].split("=")[1].split()[0]) - 6000
            row["event"] = f"runner pid={pids[load % len(pids)]} start"
        reader.read(row)
    reader.end(())
    requests = [r for r in reader.records if isinstance(r, Exchange)]
    judged = verdict(evidence(reader.records, duration=300))
    assert len(requests) == 12
    assert {e.outcome for e in requests} == {"ok"}
    assert fails(judged) == {"slots restarted"}
    answer = of(judged, "slots", "restarted").answer
    assert "11 restarts seen (12 requests took 12 loads of the server, 132 restarts an hour)" in answer


@pytest.mark.case(20)
def test_a_process_of_ours_that_ignores_the_polite_end_is_killed() -> None:
    """As the case's host did: SIGTERM, patience, SIGKILL; what was recorded before stays."""
    deaf = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    deaf += "print(flush=True)\ntime.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", deaf], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert end(process, patience=0.2) == -9


@pytest.mark.case(2, 5)
def test_the_cancelling_plans_reach_every_point_at_which_a_client_may_leave() -> None:
    catalog = Catalog(Path(__file__).parent)
    phases = {
        kind.scenario.phase: kind.scenario
        for kind in load_plan(catalog, "cancels").kinds
        if hasattr(kind.scenario, "phase")
    }
    assert {"queued", "prefill", "decode", "first_token", "near_end", "unstreamed"} == set(phases)
