"""Healthy streams of every dialect, and the same broken at random: bytes to events to a record.

Nothing makes a reading raise; pieces change nothing; and what has not come to its end is no success.
"""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from responses import DONE, EVENT_STREAM, JSON, events, opened, read
from streams import CUTS, Stream, mutated_bytes, mutated_frames, pieces, singly, streams

from soakproof.exchange import Reading
from soakproof.records import Exchange, Failure, decode, encode

more = settings(max_examples=100)


def broken_off(body: bytes) -> Exchange:
    made = Reading(opened())
    made.headers(1, 200, EVENT_STREAM)
    made.body(2, body)
    return made.broke(3, Failure.RESET, "reset")


def assert_sound(exchange: Exchange) -> None:
    """Whatever came: the record can be written, and says ok only of what has an end and holds something."""
    written = decode(encode(exchange))
    assert isinstance(written, Exchange)
    assert written.outcome == exchange.outcome
    assert (exchange.outcome == "ok") == (exchange.failure is None) == (not exchange.reason)
    if exchange.outcome == "ok":
        assert exchange.finish_reason
        assert exchange.text or exchange.tool_calls
        assert exchange.parse_errors == 0


def assert_same(one: Exchange, others: Iterable[Exchange]) -> None:
    for other in others:
        assert encode(other) == encode(one)


@more
@given(streams(), CUTS)
def test_every_dialect_is_healthy_however_it_is_split(stream: Stream, cuts: list[int]) -> None:
    whole = read(stream.body)
    assert (whole.outcome, whole.reason) == ("ok", "")
    assert (whole.text, whole.reasoning) == (stream.text, stream.reasoning)
    assert (whole.done_marker, whole.parse_errors) == (stream.done, 0)
    assert_same(whole, [read(pieces(stream.body, cuts)), read(singly(stream.body)), read(stream.frames)])


@more
@given(streams(), st.integers(0, 100_000))
def test_a_stream_that_is_cut_before_its_finish_is_never_ok(stream: Stream, cut: int) -> None:
    """Ended in good order, broken off, or with a [DONE] that something between put behind it."""
    start = stream.body[: cut % (stream.unfinished + 1)]
    before = start[: sum(map(len, stream.frames[: stream.finish]))]  # a blank line would complete the finish
    for exchange in (read(start), broken_off(start), read(before + b"\n\n" + events(DONE))):
        assert_sound(exchange)
        assert exchange.outcome == "fail"
        assert stream.text.startswith(exchange.text)


@more
@given(streams(), st.data())
def test_frames_that_are_lost_or_doubled_or_moved(stream: Stream, data: st.DataObject) -> None:
    frames = data.draw(mutated_frames(stream.frames))
    exchange = read(frames)
    assert_sound(exchange)
    assert_same(exchange, [read(b"".join(frames)), read(singly(b"".join(frames)))])
    if stream.frames[stream.finish] not in frames:
        assert exchange.outcome == "fail"


@more
@given(streams(), st.data(), CUTS, st.booleans())
def test_bytes_that_are_broken(stream: Stream, data: st.DataObject, cuts: list[int], streamed: bool) -> None:
    body = data.draw(mutated_bytes(stream.body))
    headers = EVENT_STREAM if streamed else JSON
    exchange = read(body, stream=streamed, headers=headers)
    assert_sound(exchange)
    assert_same(
        exchange,
        [read(split, stream=streamed, headers=headers) for split in (pieces(body, cuts), singly(body))],
    )
    assert_sound(broken_off(body))
