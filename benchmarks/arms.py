"""The clients that `client.py` compares. Each `make_…(port)` returns a function that reads one stream and
returns how many chunks it saw, when it saw the first (ns) and the server's stamp in that one (ns).
"""

import json
import time
from collections.abc import Callable
from typing import Any

import gevent.socket
from locust.contrib.fasthttp import FastHttpSession
from locust.env import Environment

from soakproof.clock import RunClock
from soakproof.exchange import Reading
from soakproof.load.transport import Endpoint, Flight, Sweeper, perform
from soakproof.plan import Bounds
from soakproof.records import Opened
from soakproof.sse import ServerSentEvent, SSEReader

Stream = Callable[[dict[str, Any]], tuple[int, int, int]]


def _stamp(text: str) -> int:
    return int(text.split(" ", 1)[0])


def make_raw(port: int) -> Stream:
    def stream(body: dict[str, Any]) -> tuple[int, int, int]:
        data = json.dumps(body).encode()
        connection = gevent.socket.create_connection(("127.0.0.1", port))
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(data) + data)
        seen, first, head = 0, 0, b""
        while part := connection.recv(65536):
            count = part.count(b'"content"')
            if count and not seen:
                first, head = time.monotonic_ns(), part
            seen += count
        connection.close()
        return seen, first, int(head.partition(b'"content":"')[2].split(b" ", 1)[0])

    return stream


class _FramingOnly:
    """A reading that takes HTTP and events apart and leaves the JSON alone."""

    finished = False
    over_limit = False
    last_progress_ns = None

    def __init__(self) -> None:
        self.events = SSEReader()
        self.token_events = 0
        self.first = 0
        self.text = ""

    def headers(self, t_ns: int, status: int, headers: dict[str, str]) -> None: ...

    def body(self, t_ns: int, data: bytes) -> None:
        for event in self.events.feed(data):
            if isinstance(event, ServerSentEvent):
                self.token_events += 1
                if not self.first:
                    self.first, self.text = t_ns, event.data

    def end(self, t_ns: int) -> Any:
        return self

    sent_ns = 0

    def sent(self, t_ns: int) -> None:
        self.sent_ns = t_ns

    def deadline(self, bounds: Bounds, ahead: float, held_ns: int) -> Any:
        return _NEVER, None


_NEVER = 1 << 62


def _soakproof(
    port: int, reading_of: Callable[[], Any], result: Callable[[Any], tuple[int, int, int]]
) -> Stream:
    clock = RunClock(0)
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1/chat/completions", {})
    sweeper = Sweeper(clock)

    def stream(body: dict[str, Any]) -> tuple[int, int, int]:
        flight = Flight(reading_of(), Bounds(), None, 100)
        return result(perform(flight, endpoint, json.dumps(body).encode(), clock, sweeper))

    return stream


def make_framing(port: int) -> Stream:
    def result(reading: _FramingOnly) -> tuple[int, int, int]:
        text = json.loads(reading.text)["choices"][0]["delta"]["content"]
        return reading.token_events - 2, reading.first, _stamp(text)

    return _soakproof(port, _FramingOnly, result)


def make_soakproof(port: int) -> Stream:
    def reading() -> Reading:
        now = time.monotonic_ns()
        return Reading(
            Opened(
                id="b-1", node="b", scenario="s", iteration=0, role="r", seed=1, due_ns=now, sent_ns=now,
                model_asked="m", stream=True, max_tokens=1 << 20, prompt_chars=10, prompt_digest="",
            )
        )  # fmt: skip

    def result(exchange: Any) -> tuple[int, int, int]:
        assert exchange.outcome == "ok", exchange
        return exchange.token_events, exchange.first_token_ns, _stamp(exchange.text)

    return _soakproof(port, reading, result)


def make_fasthttp(port: int) -> Stream:
    request_event = Environment().events.request

    def stream(body: dict[str, Any]) -> tuple[int, int, int]:
        session = FastHttpSession(f"http://127.0.0.1:{port}", request_event, user=None)  # as each user has
        seen, first, text = 0, 0, ""
        for line in session.iter_lines("/", method="POST", json=body):
            if not line.startswith("data: {"):
                continue
            delta = json.loads(line[6:])["choices"][0]["delta"]
            if "content" in delta:
                seen += 1
                if not first:
                    first, text = time.monotonic_ns(), delta["content"]
        return seen, first, _stamp(text)

    return stream
