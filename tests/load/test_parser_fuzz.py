"""Whole HTTP responses, made up and broken at random, through the parser of the gevent driver; no socket."""

from collections.abc import Iterable, Sequence

from geventhttpclient.response import HTTPParseError
from hypothesis import given, settings
from hypothesis import strategies as st
from responses import opened, read

from soakproof.exchange import Reading
from soakproof.load.transport import _Parser
from soakproof.records import Exchange, Failure, encode
from tests.exchange.streams import CUTS, Stream, mutated_bytes, pieces, singly, streams

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
more = settings(max_examples=60)


def through(received: Iterable[bytes]) -> Exchange:
    """As the driver does it, the connection closed behind these."""
    reading = Reading(opened())
    parser = _Parser(reading)
    try:
        for piece in (*received, b""):
            parser.at_end, parser.now = not piece, 2
            parser.feed(piece)
            if parser.whole:
                break
    except HTTPParseError:
        if not parser.whole:
            return reading.broke(3, Failure.RESET if parser.at_end else Failure.PROTOCOL, "")
    return reading.end(3) if parser.whole else reading.broke(3, Failure.RESET, "")


@st.composite
def responses(draw: st.DrawFn, stream: Stream) -> bytes:
    """The stream as a whole response, framed in one of the three ways that there are."""
    body = stream.body
    interim = draw(st.sampled_from([b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"]))
    framing = draw(st.sampled_from(["chunks", "chunks", "length", "close"]))
    if framing == "chunks":
        return interim + HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(pieces(body, draw(CUTS)))
    length = b"Content-Length: %d\r\n" % len(body) if framing == "length" else b""
    return interim + HEAD + length + b"\r\n" + body


def chunked(parts: Sequence[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*filter(None, parts), b""))


@more
@given(streams(), st.data(), CUTS)
def test_every_framing_however_it_is_split(stream: Stream, data: st.DataObject, cuts: list[int]) -> None:
    raw = data.draw(responses(stream))
    whole = through([raw])
    assert (whole.outcome, whole.text, whole.notes) == ("ok", stream.text, read(stream.body).notes)
    for split in (pieces(raw, cuts), singly(raw)):
        assert encode(through(split)) == encode(whole)


@more
@given(streams(), st.data(), CUTS)
def test_what_is_broken_is_read_alike_however_it_is_split(
    stream: Stream, data: st.DataObject, cuts: list[int]
) -> None:
    raw = data.draw(responses(stream).flatmap(mutated_bytes))
    exchange = through([raw])
    for split in (pieces(raw, cuts), singly(raw)):
        assert encode(through(split)) == encode(exchange)


@more
@given(streams(), st.sampled_from([b"", b"Content-Length: 9999999\r\n"]), st.integers(0, 100_000))
def test_what_is_cut_before_the_finish_is_never_ok(stream: Stream, length: bytes, cut: int) -> None:
    """A body that ends with its connection is the weakest: only the finish reason tells its end."""
    exchange = through([HEAD + length + b"\r\n" + stream.body[: cut % (stream.unfinished + 1)]])
    assert exchange.outcome == "fail"


@more
@given(st.binary(max_size=200), CUTS)
def test_random_bytes(raw: bytes, cuts: list[int]) -> None:
    exchange = through([raw])
    assert exchange.outcome == "fail"
    assert encode(through(pieces(raw, cuts))) == encode(exchange)
