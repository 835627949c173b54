"""A response taken apart: the same however it was split, as h11 does it where it is in order, and bounded."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

import h11
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from misbehaving import SAYS, WHOLE

from soakproof.http1 import LONGEST_HEAD, FramingError, Response, message, post_head

Told = tuple[int | None, Mapping[str, str], bytes, str]


def read(pieces: Iterable[bytes], *, closes: bool = True) -> Told:
    """Status, headers, body, and how it ended: whole, cut, or what was wrong with it."""
    heads: list[tuple[int, Mapping[str, str]]] = []
    body = bytearray()
    response = Response(
        lambda _, status, headers: heads.append((status, headers)), lambda _, data: body.extend(data)
    )
    end = ""
    try:
        for piece in pieces:
            response.feed(0, piece)
        if closes:
            response.closed()
    except FramingError as error:
        end = f"wrong: {error}"
    assert len(heads) <= 1
    status, headers = heads[0] if heads else (None, {})
    return status, headers, bytes(body), end or ("whole" if response.whole else "cut")


def split(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(edges)]


CUTS = st.lists(st.integers(0, 1 << 16), max_size=12)


@pytest.mark.parametrize("name", SAYS)
def test_every_behaviour_is_the_same_byte_by_byte(name: str) -> None:
    whole, single = read([SAYS[name]]), read(bytes([byte]) for byte in SAYS[name])
    assert whole[:3] == single[:3] or whole[3].startswith("wrong")
    assert whole[3].partition(":")[0] == single[3].partition(":")[0]


@given(
    data=st.sampled_from(sorted(SAYS.values())),
    at=st.integers(0, 1 << 16),
    byte=st.binary(max_size=3),
    cuts=CUTS,
)
@settings(max_examples=300, deadline=None)
@example(data=WHOLE, at=0, byte=b"", cuts=[1, 2, 3])
def test_nothing_that_comes_raises_anything_else_and_splits_change_nothing(
    data: bytes, at: int, byte: bytes, cuts: list[int]
) -> None:
    at %= len(data) + 1
    bent = data[:at] + byte + data[at + len(byte) :]
    whole, parts = read([bent]), read(split(bent, cuts))
    assert whole[3].partition(":")[0] == parts[3].partition(":")[0]
    if not whole[3].startswith("wrong"):
        assert whole == parts


NAMES = st.sampled_from(["X-A", "x-b", "Server", "Content-Type"])
VALUES = st.text("abc ;=/\u00e9", max_size=12).map(str.strip)


@given(
    status=st.sampled_from([200, 203, 404, 500, 503]),
    fields=st.lists(st.tuples(NAMES, VALUES), max_size=4),
    chunks=st.lists(st.binary(min_size=1, max_size=40), max_size=6),
    how=st.sampled_from(["chunked", "counted", "until closed"]),
    interim=st.booleans(),
    cuts=CUTS,
)
@settings(max_examples=200, deadline=None)
def test_what_is_in_order_is_read_as_h11_reads_it(
    status: int, fields: list[tuple[str, str]], chunks: list[bytes], how: str, interim: bool, cuts: list[int]
) -> None:
    body = b"".join(chunks)
    head = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in fields)]
    if how == "chunked":
        head.append("Transfer-Encoding: chunked")
        body = b"".join(b"%X;x=1\r\n%b\r\n" % (len(c), c) for c in chunks) + b"0\r\nX-Trailer: y\r\n\r\n"
    elif how == "counted":
        head.append(f"Content-Length: {len(body)}")
    first = b"HTTP/1.1 100 Continue\r\n\r\n" if interim else b""
    data = first + "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body
    found = read(split(data, cuts))
    assert found[3] == "whole"
    theirs = by_h11(data)
    assert (found[0], found[2]) == theirs[:2]
    assert all(found[1][name] for name in theirs[2] if theirs[2][name])


def by_h11(data: bytes) -> tuple[int, bytes, dict[str, bytes]]:
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    client.send(h11.EndOfMessage())
    client.receive_data(data)
    client.receive_data(b"")
    status, body, headers = 0, b"", {}
    while True:
        event = client.next_event()
        if isinstance(event, h11.Response):
            status, headers = event.status_code, {n.decode(): v for n, v in event.headers}
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
            return status, bytes(body), headers


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "both Transfer-Encoding"),
        (HEAD + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", "nobody asked for"),
        (HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n", "not a Content-Length"),
        (HEAD + b"Content-Length: -3\r\n\r\n", "not a Content-Length"),
        (HEAD + b"Content-Length: \xb2\r\n\r\n", "not a Content-Length"),
        (HEAD + b"Bad Name: x\r\n\r\n", "not a header"),
        (HEAD + b" folded: x\r\n\r\n", "not a header"),
        (b"HTTP/1.1 2OO OK\r\n\r\n", "not a status line"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "switched"),
        (b"\r\nHTTP/1.1 200 OK\r\n\r\n", "not HTTP/1.1"),
        (b"SSH-2.0", "not HTTP/1.1"),
        (b"HTTP/2", "not HTTP/1.1"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n<html>", "not the size"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\nabc", "not the size"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabcd", "longer than its size"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"f" * 20 + b"\r\n", "not the size"),
        (HEAD + b"x: " + b"y" * LONGEST_HEAD, "headers of more than"),
    ],
)
def test_what_is_wrong_is_told_at_once(data: bytes, told: str) -> None:
    assert told in read([data], closes=False)[3]


def test_what_follows_an_answer_is_not_looked_at() -> None:
    counted = HEAD + b"Content-Length: 2\r\n\r\nyes and more"
    assert read([counted])[2:] == (b"ye", "whole")
    assert read([WHOLE + b"<html>"])[3] == "whole"
    assert read([HEAD.replace(b"200", b"204") + b"\r\nmore"])[2:] == (b"", "whole")


def test_fields_are_joined_and_folded_lines_are_one() -> None:
    data = HEAD.replace(b"\r\n", b"\n") + b"A: 1\nA: 2\r\nB: x\r\n\ty\n\nbody"
    assert read([data]) == (200, {"a": "1, 2", "b": "x y"}, b"body", "whole")


def test_a_request_is_whole_and_names_its_host_and_length() -> None:
    sent = message(post_head("http://host:81/v1/chat", {"Authorization": "Bearer k\u20ac"}), b"{}")
    assert sent.startswith(b"POST /v1/chat HTTP/1.1\r\nHost: host:81\r\n")
    assert sent.endswith(b"Authorization: Bearer k?\r\nContent-Length: 2\r\n\r\n{}")
