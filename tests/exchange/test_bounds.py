"""Memory and work of a reading are bounded, whatever comes and however long: measured, without a clock."""

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from responses import EVENT_STREAM, MS, chunk, encoded, events, opened, text
from streams import HEARTBEATS

from soakproof.exchange import Reading
from soakproof.reading.delta import ToolCalls
from soakproof.reading.notes import Notes
from soakproof.sse import MIB

PIECE = 4096


def called(n: int) -> bytes:
    return events(chunk({"tool_calls": [{"index": n, "function": {"arguments": ""}}]}))


# What may come again and again and brings no answer: nothing of it may be kept. Each is given a number.
ENDLESS: dict[str, Any] = {
    **{f"heartbeat {beat.decode()!r}": lambda n, beat=beat: beat + b"\n\n" for beat in HEARTBEATS if beat},
    "blank lines": lambda n: b"\n",
    "ids": lambda n: b"id: %d\ndata: {}\n\n" % n,
    "names of events": lambda n: b"event: e%d\ndata: words\n\n" % n,
    "unknown fields": lambda n: b"f%d: x\n\n" % n,
    "broken events": lambda n: b"data: {%d\n\n" % n,
    "JSON without a frame": lambda n: b': ping\n{"a":%d}\n\n' % n,
    "errors": lambda n: events({"error": {"message": f"boom {n}", "code": n}}),
    "role chunks": lambda n: events(chunk({"role": "assistant"}, id=str(n), model=str(n), created=n)),
    "finish reasons": lambda n: events(chunk(finish=f"reason {n}")),
    "finishes": lambda n: events(chunk(finish=("stop", "length", "abort")[n % 3])),
    "usage": lambda n: events({"choices": [], "usage": {f"u{n % 50}": n}, "timings": {f"t{n % 50}": n}}),
    "empty calls": called,
    "other choices": lambda n: events({"choices": [{"index": n + 1, "delta": {"content": "x"}}]}),
    "refusals": lambda n: events(chunk({"refusal": f"no {n}"})),
    "not UTF-8": lambda n: b": \xff%d\n\n" % n,
}


def flood(make: Any, size: int) -> Iterator[bytes]:
    """At least so many bytes of it, in pieces that end anywhere."""
    made, number = bytearray(), 0
    while size > 0:
        while len(made) < PIECE:
            made += make(number)
            number += 1
        yield bytes(made[:PIECE])
        size -= PIECE
        del made[:PIECE]


def read_all(pieces: Iterator[bytes], *, status: int = 200) -> Reading:
    reading = Reading(opened())
    reading.headers(1, status, EVENT_STREAM)
    for number, piece in enumerate(pieces):
        reading.body(number * MS, piece)
        if reading.over_limit:
            break
    return reading


# Whose memory counts: in a process that runs many tests, other threads keep some of their own.
OURS = [tracemalloc.Filter(True, place) for place in ("*/soakproof/*", "*/json/*", __file__)]


def held() -> int:
    gc.collect()  # in a process with much else, cycles wait long
    return sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(OURS).traces)


def kept(make: Any, size: int) -> int:
    """Bytes that a reading still holds after so many have come, and its record made."""
    tracemalloc.start()
    try:
        before = held()
        reading = read_all(flood(make, size))
        reading.end(10**12)
        return held() - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ENDLESS)
def test_nothing_is_kept_of_what_brings_no_answer(name: str) -> None:
    kept(ENDLESS[name], PIECE)  # what the first use of anything keeps for good
    assert kept(ENDLESS[name], 25 * PIECE) < 10 * PIECE


def test_what_an_answer_holds_is_seen() -> None:
    assert kept(lambda n: events(text("y" * 5000)), 25 * PIECE) > 20 * PIECE


# What is kept until it is too much, with what begins it. Its limit is 8 MiB, of bytes or of characters.
TOO_MUCH: dict[str, tuple[bytes, bytes]] = {
    "a line": (b"data: ", b"y"),
    "lines of one event": (b"", b"data: y\n"),
    "fields of one event": (b"", b"f: y\n"),
    "blank lines' opposite": (b"", b"\xff\n"),
    "a document": (b'{"a":"', b"y"),
    "brackets": (b"[", b"["),
    "a page": (b"<html>", b"<p>"),
    "text": (b"\n", events(text("y" * 5000))),
    "wide text": (b"\n", events(text("\u4e16" * 800 + "🌍"))),
    "reasoning": (b"\n", events(chunk({"reasoning": "y" * 5000}))),
    "arguments": (
        b"\n",
        events(chunk({"tool_calls": [{"index": 0, "function": {"arguments": "y" * 5000}}]})),
    ),
}


@pytest.mark.parametrize("name", TOO_MUCH)
@pytest.mark.parametrize("status", [200, 500])
def test_what_is_kept_has_a_limit(name: str, status: int) -> None:
    first, again = TOO_MUCH[name]
    block = again * (-(-64 * 1024 // len(again)))
    tracemalloc.start()
    try:
        blocks = 100 * MIB // len(block)
        reading = read_all(iter([first, *[block] * blocks]), status=status)
        assert reading.over_limit
        exchange = reading.end(10**12)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert exchange.outcome == "fail"
    assert peak < 64 * MIB
    assert len(exchange.text) + len(exchange.reasoning) + len(exchange.tool_calls) <= 2 * 64 * 1024


def calls_of(pieces: list[bytes]) -> int:
    """How many functions, C's included, are called until the record of these is made."""
    seen = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        read_all(iter(pieces)).end(10**12)
    finally:
        sys.setprofile(before)
    return seen


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("size", [1, PIECE])
def test_twice_as_much_is_twice_the_work(name: str, size: int) -> None:
    """In bytes of their own, or as many at once as one read brings."""

    def work(times: int) -> int:
        body = b": so it is a stream\n\n" + b"".join(flood(ENDLESS[name], PIECE))[:1024] * times
        return calls_of([body[at : at + size] for at in range(0, len(body), size)])

    work(1)
    once, twice = work(2), work(4)
    assert twice < 2.2 * once


def test_a_name_in_many_pieces_is_looked_up_and_not_searched_for() -> None:
    compared = 0

    class Piece(str):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    calls, notes = ToolCalls(), Notes()
    for number in range(2000):
        calls.add([{"index": 0, "function": {"name": Piece(f"n{number}")}}], notes)
    assert compared < 4000
    assert str(calls).count("n1999") == 1


def test_one_error_in_a_maze_of_others_is_found_with_bounded_work() -> None:
    maze: Any = "boom"
    for _ in range(7):
        maze = {"error": [maze] * 2, "details": maze, "message": encoded({"error": maze}).decode()[:2000]}
    body = encoded({"error": maze})
    assert calls_of([b"data: " + body + b"\n\n"]) < 20_000
