"""Servers that go silent, and those that only seem to: told by the text that comes, never by the bytes."""

import json
import signal
import sys
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio
from caseinputs import INPUTS
from flights import flying
from hypothesis import given
from hypothesis import strategies as st
from replaying import SILENT, Kept, Read, kind
from responses import MS, reading

from soakproof.children import end, spawn
from soakproof.judge import Outcome
from soakproof.load.progress import progress_line
from soakproof.plan import Bounds
from soakproof.raw import raw_result
from soakproof.records import Exchange, Failure
from soakproof.testing.evidence import adjudicate, check, evidence
from soakproof.testing.evidence import opened as sending

if TYPE_CHECKING:
    from soakproof.load.transport import Sweeper

PASSED = check("some.check")


@pytest.mark.case(20)
def test_a_wedge_is_a_stall_though_comments_go_on(read: Read) -> None:
    for exchange in read("20-wedge-mid-decode.script.json"):
        assert exchange.failure is Failure.STALL
        assert (exchange.text, exchange.token_events) == ("Once the index is built, every", 7)
        assert exchange.pings > 0
        assert exchange.finish_reason is None
    found = adjudicate("functional", evidence(PASSED, exchange))["exchanges: stall"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "server")


@pytest.mark.case(20)
def test_a_server_of_ours_that_ignores_the_request_to_end_is_killed() -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    child = spawn([sys.executable, "-c", deaf])
    assert child.stdout is not None
    assert child.stdout.readline() == b"up\n"
    assert end(child, patience=0.2) == -signal.SIGKILL


@pytest.mark.case(21)
def test_heartbeats_hide_no_stall_and_make_none(read: Read) -> None:
    for exchange in read("21-proxy-ping-hides-stall.script.json"):
        assert (exchange.failure, exchange.text) == (Failure.STALL, "Step one")
        assert exchange.pings > 0
    for exchange in read("21-proxy-ping-long-prefill-ok.script.json"):
        assert (exchange.outcome, exchange.text, exchange.pings) == ("ok", "All good. Bye", 45)
        assert exchange.first_byte_ns is not None
        assert exchange.first_token_ns is not None
        assert exchange.first_byte_ns < exchange.first_token_ns


@pytest.mark.case(21)
@given(
    st.lists(
        st.sampled_from([b": ping\n\n", b":\n\n", b'data: {"choices":[]}\n\n']), min_size=1, max_size=200
    ),
    st.booleans(),
)
def test_no_number_of_heartbeats_moves_a_bound(beats: list[bytes], begun: bool) -> None:
    made, bounds = reading(), Bounds()
    if begun:
        made.body(50 * MS, b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
    due = made.deadline(bounds, 0)
    for n, beat in enumerate(beats):
        made.body(100 * MS + n, beat)
    assert made.deadline(bounds, 0) == due
    assert due[1] is (Failure.STALL if begun else Failure.FIRST_TOKEN_TIMEOUT)


@pytest.mark.case(72)
def test_a_server_that_never_answers_is_a_failure(read: Read) -> None:
    for exchange in read(SILENT):
        assert (exchange.failure, exchange.status) == (Failure.HEADERS_TIMEOUT, None)
        assert (exchange.headers_ns, exchange.first_token_ns) == (None, None)
    assert adjudicate("functional", evidence(PASSED, exchange))["exchanges: headers_timeout"].outcome is (
        Outcome.FAIL
    )


@pytest.mark.case(72)
def test_what_is_in_flight_at_the_end_is_recorded_as_unfinished(scripted_url: str) -> None:
    users = json.loads((INPUTS / "72-expected.json").read_text())["users"]
    kept = trio.run(stopped, scripted_url, users)
    assert [(e.outcome, e.failure) for e in kept.exchanges] == [("unknown", Failure.STOPPED)] * users
    assert all(e.done_ns > e.sent_ns for e in kept.exchanges)
    found = adjudicate("functional", evidence(PASSED, kept.exchanges), stopped=0)["exchanges"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert f"{users} were cut off" in found.answer
    assert raw_result([], kept.exchanges, ended={"why": "time", "reason": ""})["outcome"] == "nothing"


@pytest.mark.case(72)
def test_a_killed_user_leaves_the_record_of_its_request(over_sockets: dict[str, dict[str, Exchange]]) -> None:
    killed = over_sockets["gevent"]["killed"]
    assert (killed.outcome, killed.failure, killed.status) == ("unknown", Failure.STOPPED, None)
    assert killed.done_ns > killed.sent_ns


@pytest.mark.case(72)
def test_each_tick_tells_what_is_in_flight_and_how_old_it_is() -> None:
    expected = json.loads((INPUTS / "72-expected.json").read_text())
    in_flight, seconds = expected["must_report"]["in_flight"], expected["run_time_s"]
    sweeper = SimpleNamespace(flights=range(in_flight), oldest_s=lambda: float(seconds))
    told = progress_line(seconds, Counter(), cast("Sweeper", sweeper))
    assert f"{in_flight} in flight (oldest {seconds} s)" in told
    assert "0 exchanges ok, 0 failed" in told


@pytest.mark.case(72)
def test_what_was_sent_and_never_closed_is_not_absent(read: Read) -> None:
    """A tester that was killed: its requests stand in the evidence, as open."""
    exchange = read(SILENT)[0]
    found = adjudicate("functional", evidence(PASSED, sending(exchange)))["exchanges"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "1 are unknown" in found.answer


async def stopped(url: str, users: int) -> Kept:
    """So many requests to the silent server, ended by the tester's own stop once all are on their way."""
    kept = Kept()
    silent = kind(SILENT)
    async with flying(url, kept) as driver, trio.open_nursery() as nursery:
        for number in range(users):
            nursery.start_soon(driver.run, silent, number)
        while len(list(driver.flights)) < users:
            await trio.sleep(0.01)
        driver.stop("the run is over")
    assert kept.begun == users
    return kept
