"""Clocks, bounds and endings of a reading."""

import pytest
from responses import (
    DONE,
    EVENT_STREAM,
    JSON,
    MS,
    ROLE,
    STOP,
    answer,
    chunk,
    events,
    opened,
    read,
    reading,
    text,
)

from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Failure
from soakproof.units import Seconds

BOUNDS = Bounds(
    first_token=Seconds(10), first_token_per_1000=Seconds(5), between_tokens=Seconds(2), total=Seconds(100)
)
S = 1000 * MS
FINISH = events(STOP, DONE)


def test_the_three_first_token_clocks() -> None:
    made = reading()
    for t_ns, piece in [
        (10, b": ping\n\n"),
        (20, events(ROLE)),
        (30, events(text(""), chunk({}), {"choices": []})),
        (40, events(chunk({"reasoning_content": "hm"}))),
        (50, events(text("\n"))),
        (60, events(text("Hi"))),
        (70, events(text("!"))),
        (80, FINISH),
    ]:
        made.body(t_ns, piece)
    exchange = made.end(90)
    assert (exchange.first_byte_ns, exchange.headers_ns, exchange.done_ns) == (10, 1, 90)
    assert (exchange.first_token_ns, exchange.first_content_ns, exchange.first_visible_ns) == (40, 50, 60)
    assert exchange.last_token_ns == 70


def test_a_tool_call_is_a_token_but_no_content() -> None:
    made = reading()
    made.body(10, events(chunk({"tool_calls": [{"index": 0, "function": {"name": ""}}]})))
    assert made.last_progress_ns is None
    made.body(20, events(chunk({"tool_calls": [{"index": 0, "function": {"name": "go"}}]})))
    assert (made.token_events, made.deadline(BOUNDS, 0)[1]) == (1, Failure.STALL)
    exchange = made.end(30)
    assert (exchange.first_token_ns, exchange.first_content_ns) == (20, None)


@pytest.mark.parametrize(
    ("at", "gap", "index"),
    [([5], None, None), ([5, 5], 0, 1), ([1, 2, 9, 12], 7, 2), ([1, 8, 10, 17], 7, 1)],
)
def test_the_widest_gap_and_the_event_behind_it(at: list[int], gap: int | None, index: int | None) -> None:
    made = reading()
    for t_ns in at:
        made.body(t_ns, events(text("a")))
        made.body(t_ns + 1000, b": ping\n\n")  # bytes are no progress
    exchange = made.end(5000)
    assert (exchange.widest_gap_ns, exchange.widest_gap_at) == (gap, index)


def stretched(spread_ms: int, made_ms: float, tokens: int) -> tuple[str, ...]:
    """The notes of a stream of two token events so far apart, said to be made in so long."""
    timings = {"predicted_n": tokens, "predicted_ms": made_ms}
    made = reading()
    made.body(10, events(text("a")))
    made.body(10 + spread_ms * MS, events(text("b"), STOP | {"timings": timings}, DONE))
    return made.end(10 + spread_ms * MS).notes


def test_a_buffered_delivery_is_told() -> None:
    assert stretched(10, 8000, 80) == ("buffered: made in 8000 ms, arrived within 10 ms",)


@pytest.mark.parametrize(
    ("spread_ms", "made_ms", "tokens"),
    [(7500, 8000, 80), (2500, 8000, 80), (0, 400, 80), (0, 8000, 2), (0, float("nan"), 80), (0, -1, 80)],
)
def test_a_delivery_that_is_passed_on_is_not(spread_ms: int, made_ms: float, tokens: int) -> None:
    assert not [note for note in stretched(spread_ms, made_ms, tokens) if note.startswith("buffered")]


def test_bounds_before_the_headers_and_the_first_token() -> None:
    made = Reading(opened(sent_ns=3 * S))
    assert made.deadline(BOUNDS, 0) == (13 * S, Failure.HEADERS_TIMEOUT)
    assert made.deadline(BOUNDS, 4000) == (33 * S, Failure.HEADERS_TIMEOUT)
    made.headers(4 * S, 200, EVENT_STREAM)
    made.body(5 * S, b": ping\n\n" + events(ROLE))
    assert made.deadline(BOUNDS, 4000) == (33 * S, Failure.FIRST_TOKEN_TIMEOUT)
    assert made.deadline(BOUNDS, 100_000) == (103 * S, Failure.TOTAL_TIMEOUT)


def test_bounds_between_tokens_and_in_total() -> None:
    made = reading()
    made.body(20 * S, events(text("a")))
    assert made.deadline(BOUNDS, 4000) == (22 * S, Failure.STALL)
    made.body(21 * S, b": ping\n\n" + events(text("")))
    assert made.deadline(BOUNDS, 4000) == (22 * S, Failure.STALL)
    made.body(99 * S, events(text("b")))
    assert made.deadline(BOUNDS, 4000) == (100 * S, Failure.TOTAL_TIMEOUT)


def test_an_answer_that_is_not_streamed_has_only_the_bound_in_total() -> None:
    made = Reading(opened(stream=False))
    assert made.deadline(BOUNDS, 0) == (100 * S, Failure.TOTAL_TIMEOUT)
    made.headers(1, 200, JSON)
    made.body(2, b'{"choices"')
    assert made.deadline(BOUNDS, 0) == (100 * S, Failure.TOTAL_TIMEOUT)


BREAKS = [
    Failure.CONNECT,
    Failure.RESET,
    Failure.HEADERS_TIMEOUT,
    Failure.FIRST_TOKEN_TIMEOUT,
    Failure.STALL,
    Failure.TOTAL_TIMEOUT,
    Failure.GENERATOR,
]


@pytest.mark.parametrize("failure", BREAKS)
def test_what_ended_it_is_its_failure(failure: Failure) -> None:
    exchange = Reading(opened()).broke(9, failure, "why\x1b")
    assert (exchange.outcome, exchange.failure, exchange.reason) == ("fail", failure, "why\\x1b")
    assert (exchange.status, exchange.headers_ns, exchange.first_byte_ns, exchange.done_ns) == (
        None,
        None,
        None,
        9,
    )


def test_a_stop_leaves_the_outcome_unknown() -> None:
    made = reading()
    made.body(2, events(text("Hi")))
    exchange = made.broke(3, Failure.STOPPED, "the run ends")
    assert (exchange.outcome, exchange.failure, exchange.text) == ("unknown", Failure.STOPPED, "Hi")


def test_the_end_before_any_response() -> None:
    assert Reading(opened()).end(3).failure is Failure.PROTOCOL


@pytest.mark.parametrize("failure", [Failure.RESET, Failure.TOTAL_TIMEOUT, Failure.STOPPED])
def test_an_answer_that_was_whole_stays_whole(failure: Failure) -> None:
    """A server that resets, or never closes, after [DONE] took nothing away."""
    made = reading()
    made.body(2, answer("Hi"))
    assert made.finished
    exchange = made.broke(3, failure, "late")
    assert (exchange.outcome, exchange.notes) == ("ok", (f"{failure.value}_after_done: late",))


def test_a_whole_answer_may_still_be_no_answer() -> None:
    made = reading()
    made.body(2, answer())
    assert made.broke(3, Failure.RESET, "late").failure is Failure.EMPTY


def test_our_own_fault_stays_ours() -> None:
    made = reading()
    made.body(2, answer("Hi"))
    assert made.broke(3, Failure.GENERATOR, "a bug").failure is Failure.GENERATOR


@pytest.mark.parametrize("end", [[STOP], [DONE]])
def test_a_break_before_done_and_finish_reason_counts(end: list[dict[str, object] | str]) -> None:
    made = reading()
    made.body(2, answer("Hi", end=end))
    assert made.broke(3, Failure.RESET, "reset").failure is Failure.RESET


def test_what_the_server_told_explains_more_than_the_break_behind_it() -> None:
    made = reading()
    made.body(2, answer("Hi", end=[{"error": {"message": "boom"}}]))
    exchange = made.broke(3, Failure.RESET, "reset")
    assert (exchange.failure, exchange.reason) == (Failure.ERROR_EVENT, "boom")
    assert exchange.notes == ("reset_after_error: reset",)
    refused = reading(status=503)
    refused.body(2, b"Loading")
    assert refused.broke(3, Failure.RESET, "reset").failure is Failure.HTTP_STATUS


@pytest.mark.parametrize(
    "body", [b"", b": ping\n\n", events(ROLE, text("Hi")), events(text("Hi"))[:-9], answer("Hi")]
)
def test_a_planned_cancel_is_a_success(body: bytes) -> None:
    made = reading(cancel_planned="decode: after 1 token events")
    made.body(2, body)
    exchange = made.cancelled(5)
    assert (exchange.outcome, exchange.failure, exchange.cancelled_ns, exchange.done_ns) == ("ok", None, 5, 5)
    assert exchange.notes == ()


def test_a_cancel_while_nothing_has_come() -> None:
    exchange = Reading(opened()).cancelled(5)
    assert (exchange.outcome, exchange.cancelled_ns, exchange.status) == ("ok", 5, None)


def test_a_cancel_does_not_hide_an_error() -> None:
    made = reading()
    made.body(2, events({"error": "boom"}))
    assert made.cancelled(5).failure is Failure.ERROR_EVENT
    refused = reading(status=404, headers=JSON)
    assert refused.cancelled(5).failure is Failure.CONFIGURATION


def test_the_first_end_counts() -> None:
    made = reading()
    made.body(2, answer("Hi"))
    exchange = made.end(3)
    made.body(4, events(text("more")))
    assert made.broke(5, Failure.RESET, "late") is exchange
    assert made.cancelled(6) is exchange
    assert made.end(7) is exchange


def test_an_interim_response_is_passed_over() -> None:
    made = Reading(opened())
    made.headers(1, 103, {"link": "x"})
    assert made.deadline(BOUNDS, 0)[1] is Failure.HEADERS_TIMEOUT
    made.headers(2, 200, EVENT_STREAM)
    made.body(3, answer("Hi"))
    assert made.end(4).headers_ns == 2


def test_the_record_repeats_what_was_opened() -> None:
    given = {"secrets": ("ABCD2345",), "cancel_planned": "x", "due_ns": 5, "sent_ns": 6, "role": "after"}
    exchange = read(answer("Hi"), **given)
    assert {name: getattr(exchange, name) for name in given} == given


@pytest.mark.parametrize(
    ("finish", "tokens", "notes"),
    [
        ("stop", 20, {"stop_at_limit"}),
        ("length", 20, set()),
        ("stop", 19, set()),
        ("length", 23, {"over_max_tokens"}),
        ("stop", 23, {"stop_at_limit", "over_max_tokens"}),
    ],
)
def test_the_limit_of_tokens(finish: str, tokens: int, notes: set[str]) -> None:
    last = chunk(finish=finish, usage={"completion_tokens": tokens})
    exchange = read(answer("Hi", end=[last, DONE]), max_tokens=20)
    assert {note.partition(":")[0] for note in exchange.notes} == notes
