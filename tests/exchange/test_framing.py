"""Framing that the two parsers differ on: contradictions in a head, lone line feeds, garbage for a chunk."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.framing import KEPT, LineEnds, contradiction, is_garbage

CHUNKED = ("Transfer-Encoding", "chunked")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ([CHUNKED], ""),
        ([("transfer-encoding", " Chunked ")], ""),
        ([("Content-Length", "3")], ""),
        ([], ""),
        ([CHUNKED, ("content-length", "3")], "both"),
        ([("Transfer-Encoding", "gzip, chunked")], "nobody asked for: 'gzip, chunked'"),
        ([("Transfer-Encoding", "gzip"), CHUNKED], "nobody asked for: 'gzip, chunked'"),
        ([("Transfer-Encoding", "identity")], "nobody asked for"),
    ],
)
def test_a_head_that_contradicts_itself_is_told(fields: list[tuple[str, str]], told: str) -> None:
    found = contradiction(fields)
    assert told in found
    assert bool(found) == bool(told)


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(edges)]


BODY = b"data: a\n\ndata: b\r\n\n\r\n"


@given(
    interim=st.integers(0, 2),
    lone=st.lists(st.booleans(), min_size=12, max_size=12),
    cuts=st.lists(st.integers(0, 1 << 10), max_size=8),
)
def test_line_ends_of_heads_are_whole_however_they_came_and_bodies_are_left(
    interim: int, lone: list[bool], cuts: list[int]
) -> None:
    lines = [b"HTTP/1.1 103 Early", b"Link: x", b""] * interim + [b"HTTP/1.1 200 OK", b"A: b", b""]
    sent = (
        b"".join(line + (b"\n" if bare else b"\r\n") for line, bare in zip(lines, lone, strict=False)) + BODY
    )
    ends = LineEnds()
    found = b"".join(ends.feed(piece) for piece in split(sent, cuts))
    assert found == b"".join(line + b"\r\n" for line in lines) + BODY
    assert ends.over


@given(pieces=st.lists(st.binary(max_size=8)))
def test_whatever_comes_none_of_its_bytes_but_line_ends_change(pieces: list[bytes]) -> None:
    ends = LineEnds()
    found = b"".join(ends.feed(piece) for piece in pieces)
    assert found.replace(b"\r", b"") == b"".join(pieces).replace(b"\r", b"")


DATA = b'data: {"choices": [1]}\n\n'
WIRE = b"18\r\n" + DATA + b"\r\n"


@given(chunks=st.integers(1, 4), at=st.integers(0, 1 << 10))
def test_a_stream_that_is_cut_anywhere_is_no_garbage(chunks: int, at: int) -> None:
    wire = WIRE * chunks
    at %= len(wire) + 1
    whole, rest = divmod(at, len(WIRE))
    body = DATA * whole + DATA[: max(0, rest - 4)]
    assert not is_garbage(wire[:at][-4096:], body[-KEPT:])


@pytest.mark.parametrize(
    "garbage", [b"<html><h1>502</h1></html>", b"<html>\n</html>", b"upstream closed", b"{}"]
)
def test_what_comes_in_a_chunks_place_is_garbage(garbage: bytes) -> None:
    assert is_garbage(WIRE + garbage, DATA[-KEPT:])
