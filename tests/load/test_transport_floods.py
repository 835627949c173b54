"""Servers that never stop: each is ended within its bound, its neighbours go on, and memory stays small."""

import itertools
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gevent
import pytest
import trustme
from misbehaving import END, LAST, ROLE, STREAM_HEAD, WHOLE, chunk, delta, serving

from soakproof.clock import RunClock
from soakproof.exchange import Reading
from soakproof.load.transport import Endpoint, Flight, Sweeper, perform
from soakproof.plan import Bounds
from soakproof.reading.answer import KEPT_CHARS
from soakproof.records import Exchange, Failure, Opened
from soakproof.units import Seconds

SHORT = Bounds(first_token=Seconds(0.4), between_tokens=Seconds(0.4), total=Seconds(0.8))
PATIENT = Bounds(first_token=Seconds(60), between_tokens=Seconds(60), total=Seconds(60))
CLOCK = RunClock.start()

PING = chunk(b": ping\n\n") * 1000
NOTHING = delta() * 300
WORDS = delta("yes ") * 300
MORE = delta("after the end ") * 300
BROKEN = chunk(b"data: {oops\n\n") * 300

# What comes first, what follows for ever, and how that ends under short bounds.
FLOODS: dict[str, tuple[bytes, bytes, Failure | None]] = {
    "pings": (STREAM_HEAD, PING, Failure.FIRST_TOKEN_TIMEOUT),
    "empty chunks": (STREAM_HEAD, NOTHING, Failure.FIRST_TOKEN_TIMEOUT),
    "events that are no JSON": (STREAM_HEAD, BROKEN, Failure.FIRST_TOKEN_TIMEOUT),
    "pings in mid-answer": (STREAM_HEAD + delta("yes "), PING, Failure.STALL),
    "tokens": (STREAM_HEAD, WORDS, Failure.TOTAL_TIMEOUT),
    "after the end": (STREAM_HEAD + delta("yes") + END, MORE, None),
    "chunk extensions": (STREAM_HEAD + b"5;", b"a=b;" * 1000, Failure.FIRST_TOKEN_TIMEOUT),
}
# The same for what is over at once, whatever the bounds.
TOO_MUCH: dict[str, tuple[bytes, bytes, Failure]] = {
    "headers": (STREAM_HEAD[:-2], b"X-More: " + b"y" * 1000 + b"\r\n", Failure.PROTOCOL),
    "one header": (STREAM_HEAD[:-2] + b"X-More: ", b"y" * 65536, Failure.PROTOCOL),
    "interim responses": (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100, Failure.PROTOCOL),
    "text": (STREAM_HEAD, delta("y" * 60_000), Failure.FRAME),
    "reasoning": (STREAM_HEAD, delta(reasoning_content="y" * 60_000), Failure.FRAME),
    "a line": (STREAM_HEAD + chunk(b"data: "), chunk(b"y" * 65536), Failure.FRAME),
    "a document": (b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n{", b"y" * 65536, Failure.FRAME),
    "an error page": (b"HTTP/1.1 500 No\r\n\r\n<html>", b"y" * 65536, Failure.HTTP_STATUS),
}


@contextmanager
def flooding(first: bytes, more: bytes) -> Iterator[str]:
    """A server that says ``first`` and then ``more`` until its client leaves."""

    def flood(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(first)
        while True:
            connection.sendall(more)

    with serving(flood) as url:
        yield url


NUMBERS = itertools.count()


def ask(url: str, bounds: Bounds) -> Exchange:
    """One request, as the driver sends it."""
    now = CLOCK.now()
    record = Opened(
        id=f"load-{next(NUMBERS)}",
        node="load",
        scenario="flood",
        iteration=0,
        role="ask",
        seed=1,
        due_ns=now,
        sent_ns=now,
        model_asked="m",
        stream=True,
        max_tokens=8,
        prompt_chars=1,
        prompt_digest="",
    )
    sweeper = Sweeper(CLOCK)
    try:
        flight = Flight(Reading(record), bounds, None, 1)
        return perform(flight, Endpoint(f"{url}/v1/chat/completions", {}), b"{}", CLOCK, sweeper)
    finally:
        sweeper.close()


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_is_ended_at_its_bound(name: str) -> None:
    first, more, failure = FLOODS[name]
    with flooding(first, more) as url:
        exchange = ask(url, SHORT)
    assert exchange.failure is failure, exchange.reason
    assert exchange.outcome == ("fail" if failure else "ok")


@pytest.mark.parametrize("name", TOO_MUCH)
def test_more_than_anybody_reads_is_ended_at_once(name: str) -> None:
    first, more, failure = TOO_MUCH[name]
    with flooding(first, more) as url:
        exchange = ask(url, PATIENT)
    assert exchange.failure is failure, exchange.reason
    assert len(exchange.text) + len(exchange.reasoning) <= KEPT_CHARS


def test_trailers_without_end_do_not_undo_an_answer_that_was_whole() -> None:
    first = STREAM_HEAD + delta("yes") + END + b"0\r\n"
    with flooding(first, b"X-More: " + b"y" * 1000 + b"\r\n") as url:
        exchange = ask(url, PATIENT)
    assert (exchange.outcome, exchange.text) == ("ok", "yes")
    assert any(note.startswith("protocol_after_done") for note in exchange.notes)


def says(words: bytes) -> Exchange:
    """What a request comes to that is answered by these bytes at once."""

    def speak(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(words)
        connection.recv(1)  # until the client leaves

    with serving(speak) as url:
        return ask(url, PATIENT)


@pytest.mark.parametrize("behind", [b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 4", b"oops"])
def test_what_comes_behind_a_whole_response_is_told(behind: bytes) -> None:
    exchange = says(WHOLE + behind)
    assert (exchange.outcome, exchange.text) == ("ok", "yes it is")
    assert exchange.notes == ("bytes_after_end",)


def test_line_ends_behind_a_response_are_nothing() -> None:
    assert says(WHOLE + b"\r\n").notes == says(WHOLE).notes == ()


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"X-No: \x1b[2J\r\n\r\n", "status 500: Invalid header value char"),
        (b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", "status 500: Transfer-Encoding"),
    ],
)
def test_a_head_that_cannot_be_read_is_told_in_words_with_its_status(head: bytes, reason: str) -> None:
    exchange = says(b"HTTP/1.1 500 Internal Server Error\r\n" + head)
    assert exchange.failure is Failure.PROTOCOL
    assert exchange.reason.startswith(reason)


def test_a_neighbour_of_a_flood_is_served() -> None:
    with flooding(STREAM_HEAD, PING) as url, serving(whole) as other:
        flood = gevent.spawn(ask, url, PATIENT)
        gevent.sleep(0.1)
        exchange = gevent.spawn(ask, other, PATIENT).get(timeout=30)
        assert (exchange.outcome, exchange.text) == ("ok", "yes it is")
        assert not flood.ready()
        flood.kill()


def whole(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(WHOLE)


def test_an_interim_response_in_a_segment_of_its_own_is_no_answer() -> None:
    def act(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
        threading.Event().wait(0.1)
        connection.sendall(STREAM_HEAD + ROLE + delta("yes it is") + END + LAST)

    with serving(act) as url:
        exchange = ask(url, PATIENT)
    assert (exchange.status, exchange.outcome, exchange.text) == (200, "ok", "yes it is")


def test_an_answer_over_tls_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many events to one TLS record, and one event over many: what TLS holds back is not waited for."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    long = "y" * 100_000

    def act(plain: socket.socket) -> None:
        with context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(65536)
            connection.sendall(STREAM_HEAD + ROLE + delta("yes ") * 2000)
            connection.sendall(delta(long) + END)
            connection.sendall(LAST)

    with serving(act) as url:
        exchange = ask(url.replace("http:", "https:"), PATIENT)
    assert (exchange.outcome, exchange.text) == ("ok", "yes " * 2000 + long)
