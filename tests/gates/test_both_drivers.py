"""The same scenario over the same server gives the same records under gevent and under trio."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import trio
from flying import flying
from misbehaving import Server, misbehaving
from scripts import Book, bundled_kinds, kinds, real_around

from soakproof.plan import Bounds, Kind
from soakproof.testbed.launch import Testbed

KINDS = {kind.name: kind for kind in kinds()}
EXPECTED = {
    "one whole": ("ok", None),
    "one until-close": ("ok", None),
    "one interim": ("ok", None),
    "one reasoning": ("ok", None),
    "one unstreamed": ("ok", None),
    "one eof-after-done": ("ok", None),
    "one eof-before-response": ("fail", "reset"),
    "one eof-in-headers": ("fail", "reset"),
    "one eof-before-body": ("fail", "reset"),
    "one eof-in-chunk": ("fail", "reset"),
    "one eof-between-chunks": ("fail", "reset"),
    "one eof-in-length": ("fail", "reset"),
    "one unstreamed-cut": ("fail", "reset"),
    "one reset-before-response": ("fail", "reset"),
    "one reset-in-stream": ("fail", "reset"),
    "one not-http": ("fail", "protocol"),
    "one bad-chunk": ("fail", "protocol"),
    "one html-between-chunks": ("fail", "protocol"),
    "one both-lengths": ("fail", "protocol"),
    "one length-after-chunks": ("fail", "protocol"),
    "one two-lengths": ("fail", "protocol"),
    "one long-chunk": ("fail", "protocol"),
    "one after-the-end": ("ok", None),
    "one two-responses": ("ok", None),
    "one header-without-name": ("fail", "protocol"),
    "one gzip-chunked": ("fail", "protocol"),
    "one line-feeds-in-head": ("ok", None),
    "one short-length": ("fail", "cut"),
    "one long-length": ("ok", None),  # whole by its own account when the connection closed early
    "one html": ("fail", "protocol"),
    "one unknown-model": ("fail", "configuration"),
    "one status-500": ("fail", "http_status"),
    "one context": ("fail", "context"),
    "one backend-lost": ("fail", "backend_lost"),
    "one cut": ("fail", "cut"),
    "one empty": ("fail", "empty"),
    "one stall-at-first": ("fail", "first_token_timeout"),
    "one stall-in-stream": ("fail", "stall"),
    "one silent": ("fail", "headers_timeout"),
    "cancel by tokens": ("ok", None),
    "cancel by time": ("ok", None),
    "cancel before the first token": ("ok", None),
    "cancel after the end": ("ok", None),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with misbehaving() as server:
        yield server


@pytest.fixture(scope="module")
def nowhere() -> Iterator[str]:
    """An address where nobody listens, and nobody else will."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def in_gevents_process(*arguments: str) -> dict[str, Any]:
    """What the gevent driver made of each script."""
    script = Path(__file__).with_name("under_gevent.py")
    environment = {**os.environ, "PYTHONPATH": str(script.parents[1])}  # for tests/misbehaving.py
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    lines = (line.split("\t", 1) for line in done.stdout.splitlines())
    return {name: json.loads(told) for name, told in lines}


@pytest.fixture(scope="module")
def under_gevent(server: Server, nowhere: str) -> dict[str, Any]:
    return in_gevents_process("misbehaving", server.url, nowhere)


def under_trio(kind: Kind, url: str) -> dict[str, Any]:
    book = Book()

    async def play() -> Any:
        async with flying(url, book) as driver:
            return await driver.run(kind, 0)

    return dict(json.loads(orjson.dumps(book.told(trio.run(play)))))


@pytest.mark.parametrize("name", KINDS)
def test_alike(server: Server, under_gevent: dict[str, Any], name: str) -> None:
    told = under_trio(KINDS[name], server.url)
    assert told == under_gevent[name]
    assert told["unclosed"] == 0
    if name in EXPECTED:
        (exchange,) = told["exchanges"]
        assert (exchange["outcome"], exchange["failure"]) == EXPECTED[name]


def test_nobody_there(nowhere: str, under_gevent: dict[str, Any]) -> None:
    told = under_trio(KINDS["one whole"], nowhere)
    assert told == under_gevent["nobody there"]
    assert told["exchanges"][0]["failure"] == "connect"


def test_each_request_has_a_connection_of_its_own_and_asks_for_no_compression(server: Server) -> None:
    server.heads.clear()
    under_trio(KINDS["one whole"], server.url)
    (head,) = server.heads
    lines = {line.lower() for line in head.decode().split("\r\n")}
    assert {"connection: close", "accept-encoding: identity", "content-type: application/json"} <= lines


def test_alike_on_a_real_server(testbed: Testbed) -> None:
    """The bundled scenarios, over llama.cpp with a model that answers the same to the same."""
    by_gevent = in_gevents_process("testbed", testbed.url, testbed.backend_url)
    for place, kind in enumerate(bundled_kinds()):
        book = Book()

        async def play(kind: Kind = kind, place: int = place, book: Book = book) -> Any:
            async with flying(
                testbed.url,
                book,
                slots_url=f"{testbed.backend_url}/slots",
                model="llm",
                around=real_around(),
                bounds=Bounds(),
                first_seed=1000 * (place + 1) + 500,
            ) as driver:
                return await driver.run(kind, 0)

        told = json.loads(orjson.dumps(book.told_of_a_real_server(trio.run(play))))
        assert told == by_gevent[kind.name]
        assert told["end"] == "completed"
        assert all(outcome is True for _, outcome, _ in told["checks"]), told["checks"]
