"""A reverse proxy in front of a server that passes everything on, except for one fault that is planted.

    with crooked(server_url, Swap()) as url:
        ...

A request's path, headers and body, and an answer's status, headers and pieces, are those of the two sides. A
client that leaves is passed on as well: the request to the server is broken off at the next piece.
"""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_OF_THE_HOP = {"connection", "host", "content-length", "transfer-encoding"}


class Fault:
    """What may be changed on the way; this one changes nothing."""

    clings_s = 0.0  # how long the server is kept at work after its client has left

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        """What the server is asked instead of a request for a stream."""
        return body

    def pieces(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """A streamed answer's pieces as the client gets them."""
        return pieces


class Swap(Fault):
    """Two requests that are asked at once get each other's answers."""

    def __init__(self) -> None:
        self._both = threading.Barrier(2, timeout=20)
        self._bodies: dict[int, dict[str, Any]] = {}

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        mine = self._both.wait()  # 0 or 1
        self._bodies[mine] = body
        self._both.wait()
        return self._bodies[1 - mine]


class Stall(Fault):
    """The first stream stops in the middle of its answer, and only its heartbeat goes on."""

    def __init__(self, after: int = 5) -> None:
        self._after = after
        self._first = threading.Lock()

    def pieces(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        if not self._first.acquire(blocking=False):
            yield from pieces
            return
        for _ in range(self._after):
            yield next(pieces)
        while True:
            yield b": ping\n\n"
            time.sleep(0.2)


class Forget(Fault):
    """Nothing of a prompt is restored from the server's cache."""

    def asked(self, body: dict[str, Any]) -> dict[str, Any]:
        return body | {"cache_prompt": False}


class Cling(Fault):
    """A client that has left is not passed on: the server goes on answering nobody, for a while."""

    clings_s = 6.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream: str, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.fault = fault
        self.closing = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._pass_on(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.endswith("/chat/completions"):
            asked = json.loads(body)
            if asked.get("stream"):
                body = json.dumps(self.server.fault.asked(asked)).encode()
        self._pass_on(body)

    def _pass_on(self, body: bytes) -> None:
        upstream = http.client.HTTPConnection(self.server.upstream)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _OF_THE_HOP}
        try:
            upstream.request(self.command, self.path, body or None, headers)
            self._answer(upstream.getresponse())
        except OSError:  # one side has left: so does the other
            self.close_connection = True
        finally:
            upstream.close()

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _OF_THE_HOP:
                self.send_header(name, value)
        if answer.chunked:
            self._stream(answer)
            return
        data = answer.read()
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, answer: http.client.HTTPResponse) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pieces = self._pieces(answer)
        try:
            for piece in self.server.fault.pieces(pieces):
                self._chunk(piece)
            self._chunk(b"")
        except OSError:
            until = time.monotonic() + self.server.fault.clings_s
            while time.monotonic() < until and next(pieces, b""):
                pass
            raise

    def _pieces(self, answer: http.client.HTTPResponse) -> Iterator[bytes]:
        while not self.server.closing.is_set() and (data := answer.read1(65536)):
            yield data

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def crooked(upstream: str, fault: Fault) -> Iterator[str]:
    """The proxy's address, as long as the block lasts."""
    server = _Server(upstream, fault)
    server.handle_error = lambda *_: None  # a side that leaves is no error here
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.closing.set()
        server.shutdown()
        with suppress(OSError):
            server.server_close()
        thread.join(5)
