"""The event stream reader against the standard: by its examples, and by a plain reading of whole bodies."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.sse import LINE_COST, Comment, FrameTooLargeError, ServerSentEvent, SSEReader

Item = ServerSentEvent | Comment


def read(*pieces: bytes, limit: int = 2**20) -> list[Item]:
    reader = SSEReader(limit)
    return [item for piece in pieces for item in reader.feed(piece)]


def data(items: list[Item]) -> list[str]:
    return [item.data for item in items if isinstance(item, ServerSentEvent)]


def outcome(pieces: list[bytes], limit: int) -> tuple[list[Item], bool, int, int]:
    """What came, whether the limit ended it, what was left over and how many characters were replaced."""
    reader = SSEReader(limit)
    seen: list[Item] = []
    try:
        for piece in pieces:
            seen += reader.feed(piece)
    except FrameTooLargeError as error:
        return seen + error.before, True, reader.close(), 0
    return seen, False, reader.close(), reader.replaced


def plainly(body: bytes) -> list[tuple[str, str, str | None, dict[str, str]]]:
    """The standard's algorithm on a body that is all there, with nothing clever in it."""
    made: list[tuple[str, str, str | None, dict[str, str]]] = []
    name, lines, last_id = "", list[str](), None
    others: dict[str, str] = {}
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    for line in re.split("\r\n|\r|\n", text)[:-1]:
        if line == "":
            if lines or others:
                made.append((name, "\n".join(lines), last_id, others))
            name, lines, others = "", [], {}
            continue
        if line.startswith(":"):
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            lines.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
        elif field not in ("id", "retry"):
            others[field] = value
    return made


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: YHOO\ndata: +2\ndata: 10\n\n", ["YHOO\n+2\n10"]),
        (b"data\n\ndata\ndata\n\ndata:", ["", "\n"]),
        (b"data:test\n\ndata: test\n\ndata:  test\n\n", ["test", "test", " test"]),
        (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", ["a", ""]),
        (b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", ["a", "b", "c"]),
        (b"data: a\r\ndata: b\r\n\r\n", ["a\nb"]),
        (b"data: a\r\n\rdata: b\n\r\n", ["a", "b"]),
        (b"\n\n\r\n\rdata: a\n\n\n\n", ["a"]),
        (b"id: 1\nevent: x\n\ndata: a\n\n", ["a"]),
        (b" data: a\n\nDATA: b\n\ndata : c\n\n", ["", "", ""]),
        ("data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(), ["a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"]),
        (b"data: a\0b\n\n", ["a\0b"]),
        (b"data: a\ndata: b\ndata: c\n", []),
        (b"", []),
    ],
)
def test_bodies(body: bytes, expected: list[str]) -> None:
    assert data(read(body)) == expected
    assert data(read(*(body[n : n + 1] for n in range(len(body))))) == expected


def test_every_field() -> None:
    (event,) = read(b'retry: 9\nid: 7\nevent: done\nerror: {"a":1}\ndata: x\n\n')
    assert event == ServerSentEvent("done", "x", "7", {"error": '{"a":1}'})


def test_the_id_stays_until_another_comes() -> None:
    items = read(b"id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n")
    assert [item.id for item in items if isinstance(item, ServerSentEvent)] == ["1", "1", "1", ""]


def test_unknown_fields_without_data_make_an_event() -> None:
    assert read(b"error: broken\n\n") == [ServerSentEvent(fields={"error": "broken"})]


def test_comments_come_at_once_and_do_not_touch_the_event_around_them() -> None:
    reader = SSEReader()
    assert reader.feed(b"data: a\n: ping\n") == [Comment("ping")]
    assert reader.feed(b":\n\n") == [Comment(""), ServerSentEvent(data="a")]


def test_an_event_is_handed_out_by_its_carriage_return() -> None:
    """Waiting for a line feed that may belong to the next event would hold a token back."""
    reader = SSEReader()
    assert data(reader.feed(b"data: a\r\r")) == ["a"]
    assert reader.feed(b"\n") == []


@pytest.mark.parametrize(
    ("body", "left"), [(b"data: a\n\n", 0), (b"data: a\n\ndata: b\nda", 9), (b"data: a", 7), (b": ping\n", 0)]
)
def test_what_made_no_event_is_counted(body: bytes, left: int) -> None:
    reader = SSEReader()
    reader.feed(body)
    assert len(reader.pending().replace(b"\n", b"")) == left
    assert reader.close() == left
    assert reader.close() == 0


def test_characters_are_decoded_whole_and_broken_ones_are_counted() -> None:
    body = "data: 🌍\n\n".encode()
    for cut in range(len(body)):
        assert data(read(body[:cut], body[cut:])) == ["🌍"]
    reader = SSEReader()
    assert data(reader.feed(b"data: \xf0\x9f\x8c|\xff|\xef\xbf\xbd\n\n")) == ["\ufffd|\ufffd|\ufffd"]
    assert reader.replaced == 2  # the third was the server's own


@pytest.mark.parametrize("pieces", [1, 7, 1000])
@pytest.mark.parametrize("line", [b"data: " + b"x" * 500, b": " + b"x" * 500, b"x" * 500])
def test_a_line_over_the_limit(pieces: int, line: bytes) -> None:
    body = b"data: a\n\n" + line + b"\n\ndata: b\n\n"
    seen, too_large, left, _ = outcome([body[n : n + pieces] for n in range(0, len(body), pieces)], 400)
    assert (data(seen), too_large, left) == (["a"], True, 0)


def test_an_event_of_many_short_lines_is_over_the_limit_by_what_they_cost() -> None:
    with pytest.raises(FrameTooLargeError):
        read(b"data: x\n" * 1000, limit=1000 * LINE_COST)
    assert len(data(read(b"data: x\n\n" * 1000, limit=1000 * LINE_COST))) == 1000


def test_a_line_within_the_limit_is_read() -> None:
    line = b"data: " + b"x" * 394
    assert data(read(line, b"\n\n", limit=400)) == ["x" * 394]


def test_a_line_of_megabytes_costs_linear_time() -> None:
    """About 0.1 s; a reader that scans its buffer for every piece takes half a minute."""
    body = b"data: " + b"x" * (16 * 2**20) + b"\n\n"
    began = time.monotonic()
    made = read(*(body[start : start + 4096] for start in range(0, len(body), 4096)), limit=2**25)
    assert len(data(made)[0]) == 16 * 2**20
    assert time.monotonic() - began < 10


fragments = st.sampled_from(
    [
        b"data: ", b"data:", b"data", b"event: ping", b"id: 4", b"retry: 1", b": c", b":", b"error: x", b"x",
        b"\n", b"\n\n", b"\r", b"\r\n", b"\r\n\r\n", b" ", b"\xef\xbb\xbf", "é🌍".encode(), b"\xf0\x9f",
        b"\xff", b"\0",
    ]
)  # fmt: skip
bodies = st.lists(fragments | st.binary(max_size=6), max_size=40).map(b"".join)


@given(bodies)
def test_as_the_standard_says(body: bytes) -> None:
    items = [item for item in read(body) if isinstance(item, ServerSentEvent)]
    assert [(i.event, i.data, i.id, dict(i.fields)) for i in items] == plainly(body)


@given(bodies, st.lists(st.integers(0, 200), max_size=12), st.integers(1, 120))
def test_cuts_change_nothing(body: bytes, cuts: list[int], limit: int) -> None:
    at = sorted({0, len(body), *(c for c in cuts if c < len(body))})
    whole = outcome([body], limit)
    assert outcome([body[a:b] for a, b in pairwise(at)], limit) == whole
    assert outcome([body[n : n + 1] for n in range(len(body))], limit) == whole
