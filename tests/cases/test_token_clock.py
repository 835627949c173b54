"""When tokens came and how many there were: never by the first byte, the chunks, or a rate that was sent."""

import json
import socket
from typing import Any

import pytest
import trio
from caseinputs import INPUTS
from flights import flying
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from playing import make, of, play
from replaying import SILENT, Kept, Read, kind
from responses import DONE, MS, ROLE, STOP, chunk, events, read, reading, text
from rundirs import begun
from scripted import documents

from soakproof.clock import RunClock
from soakproof.columns import Table
from soakproof.judge import Outcome
from soakproof.load.recorder import Recorder
from soakproof.metrics import value
from soakproof.plan import Threshold
from soakproof.records import Check, Exchange, Failure, Iteration, Opened, encode
from soakproof.testing.evidence import adjudicate, check, evidence
from soakproof.thresholds import evaluate
from soakproof.thresholds import parse as parse_threshold


def measured(name: str, exchange: Exchange) -> float | None:
    return value(name, exchange)


def noted(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


@pytest.mark.case(40)
def test_delivery_in_one_piece_is_told_and_gives_no_gap(read: Read) -> None:
    for exchange in read("40-buffered-delivery.script.json"):
        assert (exchange.outcome, exchange.token_events, exchange.completion_tokens) == ("ok", 80, 80)
        assert exchange.text == "".join(f"w{n} " for n in range(80))
        assert "buffered" in noted(exchange)
        assert measured("widest_gap", exchange) is None
        assert measured("generation_rate", exchange) == pytest.approx(80 / 7.6)  # by the server's own clock
    run = evidence(check("some.check"), [replace(exchange, id=f"b{n}") for n in range(3)])
    found = adjudicate("protocol", run)["buffered"]
    assert (found.outcome, found.fault) == (Outcome.INCONCLUSIVE, "")
    assert "exchanges: stall" not in adjudicate("functional", run)


@pytest.mark.case(40)
def test_without_the_servers_times_a_burst_gives_no_rate(read: Read) -> None:
    words = [text(f"w{n} ") for n in range(80)]
    made = reading()
    made.body(8_000 * MS, events(ROLE, *words, STOP, chunk(usage={"completion_tokens": 80}), DONE))
    exchange = made.end(8_001 * MS)
    assert (exchange.outcome, exchange.completion_tokens) == ("ok", 80)
    assert measured("generation_rate", exchange) is None


@pytest.mark.case(47)
@pytest.mark.parametrize("case", documents("47-null-and-absurd-timings.json"))
def test_a_rate_that_was_sent_is_never_believed(case: dict[str, Any]) -> None:
    exchange = with_timings(case.get("timings"))
    assert exchange.outcome == "ok"
    assert exchange.completion_tokens == case.get("timings", {}).get("predicted_n")
    assert measured("generation_rate", exchange) is None
    assert measured("prompt_rate", exchange) is None


@pytest.mark.case(47)
@given(st.integers(8, 10**6), st.floats(1, 1e7), st.sampled_from([None, 0, 35_714.3, 1e300, "fast", True]))
def test_a_rate_is_worked_out_from_a_count_and_a_time(n: int, ms: float, sent: object) -> None:
    exchange = with_timings({"predicted_n": n, "predicted_ms": ms, "predicted_per_second": sent})
    assert measured("generation_rate", exchange) == pytest.approx(n / ms * 1000)


@pytest.mark.case(47)
def test_a_bare_nan_loses_no_event_and_what_is_skipped_is_counted() -> None:
    body = (INPUTS / "47-bare-nan.json.txt").read_text().strip()
    exchange = read(events(text("a"), STOP, body, DONE))
    assert (exchange.outcome, exchange.parse_errors, noted(exchange)) == ("ok", 0, {"not_strict_json"})
    assert b'"predicted_per_second":null' in encode(exchange)
    good = with_timings({"predicted_n": 100, "predicted_ms": 2000})
    absurd = [with_timings(c.get("timings")) for c in documents("47-null-and-absurd-timings.json")]
    that = Threshold(name="rate", that="generation_rate median >= 1 tokens/s", why="any")
    kinds = (Exchange, Check, Iteration, Opened)
    there, *others = (Table(kind, [good, exchange, *absurd] if kind is Exchange else ()) for kind in kinds)
    found = evaluate(parse_threshold(that, ()), there, *others)
    assert (found.outcome, found.observed, found.n) == ("pass", 50, 1)
    assert found.reason == "6 of 7 successes not measured"


@pytest.mark.case(71)
def test_a_time_ends_with_the_last_byte(read: Read) -> None:
    for exchange in read("71-slow-body.script.json"):
        assert (exchange.outcome, exchange.token_events) == ("ok", 10)
        assert exchange.headers_ns is not None
        assert exchange.last_token_ns is not None
        assert exchange.headers_ns < exchange.last_token_ns <= exchange.done_ns
    slow = read("71-slow-body.script.json")[0]
    assert (slow.headers_ns, slow.widest_gap_ns) == (50 * MS, 1_000 * MS)
    assert measured("total_time", slow) == slow.done_ns / 1e9 > 9


@pytest.mark.case(71)
def test_a_refused_connection_is_one_record_as_any_other() -> None:
    assert json.loads((INPUTS / "71-connect-fail.json").read_text())["error"] == "ECONNREFUSED"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        exchange = trio.run(asked, f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert (exchange.failure, exchange.status, exchange.first_token_ns) == (Failure.CONNECT, None, None)


@pytest.mark.case(71)
def test_locust_is_told_once_after_the_end_with_our_own_times(read: Read, tmp_path: Any) -> None:
    fired: list[dict[str, Any]] = []
    slow, silent = read("71-slow-body.script.json")[0], read(SILENT)[0]
    run = begun(tmp_path, "load", records=0)
    recorder = Recorder(run.writer("load"), RunClock.start(), lambda **told: fired.append(told))
    for exchange in (slow, silent):
        recorder.closed(exchange)
    assert [told["response_time"] for told in fired] == [(e.done_ns - e.sent_ns) / MS for e in (slow, silent)]
    assert [bool(told["exception"]) for told in fired] == [False, True]


@pytest.mark.case(76)
def test_three_first_tokens_are_three_times(read: Read) -> None:
    for exchange in read("76-reasoning-first.script.json"):
        assert (exchange.outcome, exchange.text, exchange.completion_tokens) == ("ok", "\n\nAnswer", 104)
        assert exchange.first_token_ns is not None
        assert exchange.first_content_ns is not None
        assert exchange.first_visible_ns is not None
        assert exchange.first_token_ns < exchange.first_content_ns <= exchange.first_visible_ns
    bare = read("76-reasoning-first.script.json")[0]
    assert bare.first_token_ns == 2_050 * MS
    assert (bare.first_content_ns, bare.first_visible_ns) == (6_090 * MS, 6_130 * MS)
    assert measured("first_token_time", bare) == 2.05
    assert bare.last_token_ns is not None
    seconds = (bare.last_token_ns - bare.first_token_ns) / 1e9
    assert measured("generation_rate", bare) == pytest.approx(103 / seconds)  # over all, reasoning included


@pytest.mark.case(77)
def test_a_role_is_no_first_token(read: Read) -> None:
    for exchange in read("77-early-role-chunk.script.json"):
        assert (exchange.outcome, exchange.text) == ("ok", "First second")
        assert exchange.first_byte_ns is not None
        assert exchange.first_token_ns is not None
        assert exchange.first_byte_ns < exchange.first_token_ns
    early = read("77-early-role-chunk.script.json")[0]
    assert (early.first_byte_ns, early.first_token_ns) == (5 * MS, 12_005 * MS)
    assert measured("widest_gap", early) == 0.03
    for exchange in read("77-role-only-stream.script.json"):
        assert (exchange.failure, exchange.token_events) == (Failure.EMPTY, 0)
        assert (exchange.first_token_ns, exchange.last_token_ns, exchange.widest_gap_ns) == (None, None, None)
        assert measured("first_token_time", exchange) is None


NOTHING: list[dict[str, Any]] = [
    {"role": "assistant"},
    {"role": "assistant", "content": None},
    {"content": ""},
    {"reasoning_content": ""},
    {"tool_calls": []},
    {},
]
SOMETHING: list[dict[str, Any]] = [
    {"content": "a"},
    {"content": "\n"},
    {"reasoning_content": "a"},
    {"reasoning": "a"},
    {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{"}}]},
]


@pytest.mark.case(77)
@given(st.lists(st.sampled_from(NOTHING), max_size=6), st.none() | st.sampled_from(SOMETHING))
def test_only_a_delta_with_something_in_it_is_a_token(before: list[dict[str, Any]], token: Any) -> None:
    made = reading()
    for n, delta in enumerate([*before, *([token] if token else [])]):
        made.body((n + 1) * MS, events(chunk(delta)))
    exchange = made.end(100 * MS)
    assert exchange.first_token_ns == ((len(before) + 1) * MS if token else None)


@pytest.mark.case(78)
def test_tokens_are_counted_by_the_server(read: Read) -> None:
    for exchange in read("78-multi-token-chunks.script.json"):
        assert (exchange.outcome, exchange.token_events, exchange.completion_tokens) == ("ok", 25, 104)
        assert measured("generation_rate", exchange) == 52
        assert measured("completion_tokens", exchange) == 104
    for exchange in read("78-no-usage.script.json"):
        assert (exchange.outcome, exchange.token_events) == ("ok", 5)
        assert (exchange.completion_tokens, exchange.usage) == (None, None)
        assert measured("generation_rate", exchange) is None
        assert measured("completion_tokens", exchange) is None


@pytest.mark.case(78)
@given(st.integers(1, 12), st.integers(8, 96))
def test_however_many_tokens_a_chunk_holds(a_chunk: int, tokens: int) -> None:
    made = reading()
    chunks = -(-tokens // a_chunk)
    for n in range(chunks):
        made.body((100 + 10 * n) * MS, events(text("word " * a_chunk)))
    timings = {"predicted_n": tokens, "predicted_ms": tokens * 20.0}
    made.body(5_000 * MS, events(STOP, chunk(timings=timings), DONE))
    exchange = made.end(5_001 * MS)
    assert (exchange.token_events, exchange.completion_tokens) == (chunks, tokens)
    assert measured("generation_rate", exchange) == pytest.approx(50)


@pytest.mark.case(78)
def test_a_stall_is_time_without_text_whatever_a_chunk_holds() -> None:
    prose = make("long_prose")
    assert "prose.stall" not in play(prose, of("ask", token_events=2)).missed()


def with_timings(timings: dict[str, Any] | None) -> Exchange:
    last = {"choices": [], "timings": timings}
    return read(events(text("a"), STOP, last, DONE))


async def asked(url: str) -> Exchange:
    """One request under trio."""
    kept = Kept()
    async with flying(url, kept) as driver:
        await driver.run(kind("71-slow-body.script.json"), 0)
    return kept.only()
