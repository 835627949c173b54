"""A real HTTP server on loopback that answers as a test tells it to."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson
import pytest


@dataclass
class Server:
    """``answers``: for each path a status, a content type and a body. A path in ``hangs`` never answers."""

    answers: dict[str, tuple[int, str, bytes]] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    asked: list[tuple[str, str | None]] = field(default_factory=list)  # path and Authorization
    ending: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def json(self, path: str, document: Any, status: int = 200) -> None:
        self.answers[path] = (status, "application/json; charset=utf-8", orjson.dumps(document))

    def body(self, path: str, body: bytes) -> None:
        """A body that is said to be JSON."""
        self.answers[path] = (200, "application/json", body)

    def raw(self, path: str, response: bytes) -> None:
        """A whole recorded response."""
        head, _, body = response.replace(b"\r\n", b"\n").partition(b"\n\n")
        first, *headers = head.decode().splitlines()
        kinds = [h.split(":", 1)[1].strip() for h in headers if h.lower().startswith("content-type:")]
        self.answers[path] = (int(first.split()[1]), kinds[0], body)

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.path, self.headers.get("Authorization")))
            if self.path in server.hangs:
                server.ending.wait(30)
                return
            status, kind, body = server.answers.get(self.path, (404, "text/plain", b"no such path"))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


class Quiet(ThreadingHTTPServer):
    """Clients that leave in mid-answer are part of the tests."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        pass


def _serve(port: int = 0) -> Iterator[Server]:
    server = Server()
    listening = Quiet(("127.0.0.1", port), _handler(server))
    server.port = listening.server_address[1]
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.ending.set()
    listening.shutdown()
    listening.server_close()
    thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    """A front, or a bare backend."""
    yield from _serve()


@pytest.fixture
def backend() -> Iterator[Server]:
    """A second server."""
    yield from _serve()
