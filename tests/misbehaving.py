"""A very small chat server on raw sockets that misbehaves as the prompt asks: "behave: <name>".

Each behaviour is what was really seen of a server, or of a network, in the middle of an answer. It passes for
a llama.cpp server: it lists one model, shows slots, and answers a prompt that asks for nothing.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

Connection = socket.socket
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    b"Keep-Alive: timeout=5, max=100\r\n\r\n"
)
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}}
TIMINGS = {"prompt_n": 5, "prompt_ms": 10.0, "predicted_n": 3, "predicted_ms": 30.0}


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(document: Any) -> bytes:
    return chunk(b"data: " + json.dumps(document).encode() + b"\n\n")


def delta(text: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    content = {"content": text} if text is not None else {}
    return event({"choices": [{"index": 0, "delta": {**content, **more}, "finish_reason": finish}]})


ROLE = delta(None, role="assistant", content=None)
END = (
    delta(finish="stop")
    + event({"choices": [], "usage": USAGE, "timings": TIMINGS})
    + chunk(b"data: [DONE]\n\n")
)
LAST = chunk(b"")


def document(status: str, body: Any, kind: str = "application/json") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


ANSWER = {
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes it is"}}
    ],
    "model": "tiny",
    "usage": USAGE,
    "timings": TIMINGS,
}
LOST = {
    "error": {
        "details": {"backend": "llama-server", "code": "backend_watchdog_reset", "retryable": True},
        "message": "backend process exited during streaming request",
        "type": "backend_error",
    }
}
CONTEXT = {"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long", "n_ctx": 8}}
PLAIN = (  # a stream that is not chunked
    b'data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":null}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
WHOLE = STREAM_HEAD + ROLE + delta("yes ") + delta("it is") + END + LAST

# What each behaviour sends, after which it closes the connection in good order.
SAYS: dict[str, bytes] = {
    "whole": WHOLE,
    "unstreamed": document("200 OK", ANSWER),
    "until-close": WHOLE.replace(b"Transfer-Encoding: chunked\r\n", b"").split(b"\r\n\r\n", 1)[0]
    + b"\r\n\r\ndata: "
    + json.dumps({"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}).encode()
    + b"\n\ndata: [DONE]\n\n",
    "eof-before-response": b"",
    "eof-in-headers": STREAM_HEAD[:40],
    "eof-before-body": STREAM_HEAD,
    "eof-in-chunk": STREAM_HEAD + ROLE + delta("yes ") + delta("it is")[:-9],
    "eof-between-chunks": STREAM_HEAD + ROLE + delta("yes "),
    "eof-after-done": STREAM_HEAD + ROLE + delta("yes ") + END,
    "eof-in-length": document("200 OK", ANSWER)[:-20],
    "not-http": b"220 mail.example ESMTP ready\r\n\r\n",
    "html": document("200 OK", b"<html><h1>It works!</h1></html>", "text/html"),
    "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "unknown-model": document("404 Not Found", {"error": {"type": "model_not_found", "message": "no"}}),
    "status-500": document("500 Internal Server Error", {"error": "[json.exception"}),
    "status-503": document(
        "503 Service Unavailable", {"error": {"code": 503, "message": "Loading model"}}
    ).replace(b"\r\nContent-Length", b"\r\nRetry-After: 3\r\nContent-Length"),
    "interim": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + WHOLE,
    "context": STREAM_HEAD + event(CONTEXT) + LAST,
    "backend-lost": STREAM_HEAD + ROLE + delta("yes ") + event(LOST) + LAST,
    "cut": STREAM_HEAD + ROLE + delta("yes ") + LAST,
    "done-without-finish": STREAM_HEAD + ROLE + delta("yes ") + chunk(b"data: [DONE]\n\n") + LAST,
    "empty": STREAM_HEAD + ROLE + END + LAST,
    "reasoning": STREAM_HEAD + ROLE + delta(reasoning_content="well ") + delta("yes") + END + LAST,
    "json-for-stream": document("200 OK", ANSWER),
    "half-a-character": STREAM_HEAD + chunk(b'data: {"choices":[{"delta":{"content":"\xc3') + LAST,
    "broken-event": STREAM_HEAD + ROLE + chunk(b"data: {oops\n\n") + delta("yes") + END + LAST,
    "bad-chunk": STREAM_HEAD + ROLE + b"zz\r\nhello\r\n",
    "html-between-chunks": STREAM_HEAD + ROLE + delta("yes ") + b"<html>502 Bad Gateway, closed</html>",
    "both-lengths": WHOLE.replace(b"\r\n\r\n", b"\r\nContent-Length: 9\r\n\r\n", 1),
    "length-after-chunks": WHOLE.replace(b"Keep-Alive", b"Content-Length: 40\r\nKeep-Alive"),
    "two-lengths": document("200 OK", ANSWER).replace(b"Content-L", b"Content-Length: 7\r\nContent-L"),
    "long-chunk": STREAM_HEAD + ROLE + chunk(b": ping\n\n").replace(b"8\r", b"7\r") + END + LAST,
    "after-the-end": WHOLE + b"<html>one more thing</html>",
    "two-responses": WHOLE + WHOLE,
    "header-without-name": WHOLE.replace(b"Keep-Alive", b"no header at all\r\nKeep-Alive"),
    "gzip-chunked": WHOLE.replace(b": chunked", b": gzip, chunked"),
    "line-feeds-in-head": STREAM_HEAD.replace(b"\r\n", b"\n") + WHOLE.removeprefix(STREAM_HEAD),
    "short-length": document("200 OK", PLAIN, "text/event-stream").replace(
        f"Length: {len(PLAIN)}".encode(), f"Length: {len(PLAIN) - 30}".encode()
    ),
    "long-length": document("200 OK", PLAIN, "text/event-stream").replace(
        f"Length: {len(PLAIN)}".encode(), f"Length: {len(PLAIN) + 30}".encode()
    ),
}


def reset(connection: Connection) -> None:
    """The next close sends RST instead of FIN."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_in_stream(connection: Connection) -> None:
    connection.sendall(STREAM_HEAD + ROLE + delta("yes "))
    time.sleep(0.1)  # or the reset overtakes the data
    reset(connection)


def pings(connection: Connection) -> None:
    """Heartbeats and no tokens, until the client goes."""
    try:
        while True:
            connection.sendall(chunk(b": ping\n\n"))
            time.sleep(0.05)
    except OSError:
        pass


def stall_at_first(connection: Connection) -> None:
    connection.sendall(STREAM_HEAD)
    pings(connection)


def stall_in_stream(connection: Connection) -> None:
    connection.sendall(STREAM_HEAD + ROLE + delta("yes "))
    pings(connection)


def silent(connection: Connection) -> None:
    """Nothing at all, until the client goes."""
    connection.recv(1)


def long_answer(connection: Connection) -> None:
    """A token every 10 ms, until the client goes or 500 are out."""
    try:
        connection.sendall(STREAM_HEAD + ROLE)
        for n in range(500):
            connection.sendall(delta(f"t{n} "))
            time.sleep(0.01)
        connection.sendall(END + LAST)
    except OSError:
        pass


ACTS: dict[str, Callable[[Connection], None]] = {
    "reset-before-response": reset,
    "reset-in-stream": reset_in_stream,
    "stall-at-first": stall_at_first,
    "stall-in-stream": stall_in_stream,
    "silent": silent,
    "long": long_answer,
}


@contextmanager
def serving(act: Callable[[Connection], None]) -> Iterator[str]:
    """A server's address, as long as the block lasts. ``act`` has each connection in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve(connection: Connection) -> None:
        with connection, suppress(OSError):  # the client may leave at any time
            act(connection)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # or its thread waits on for a connection
        listener.close()


class Server:
    """Answers as it is asked to; knows the seeds of what it works on."""

    def __init__(self) -> None:
        self.url = ""
        self.busy: dict[int, int] = {}  # thread to seed
        self.heads: list[bytes] = []

    def serve(self, connection: Connection) -> None:
        head, body = request_of(connection)
        self.heads.append(head)
        if b"/chat/completions " not in head:
            connection.sendall(self._tell(head.split()[1].decode()))
            return
        asked = json.loads(body)
        self.busy[threading.get_ident()] = asked.get("seed", 0)
        try:
            _behave(connection, asked["messages"][-1]["content"].partition("behave: ")[2])
        finally:
            del self.busy[threading.get_ident()]

    def _tell(self, path: str) -> bytes:
        slots = [{"id": 0, "is_processing": False, "n_ctx": 4096}] + [
            {"id": n, "is_processing": True, "n_ctx": 4096, "params": {"seed": seed}}
            for n, seed in enumerate(list(self.busy.values()), 1)
        ]
        documents = {"/slots": slots, "/health": {"status": "ok"}, "/v1/models": {"data": [{"id": "tiny"}]}}
        return document("200 OK", documents[path]) if path in documents else document("404 Not Found", {})


def _behave(connection: Connection, name: str) -> None:
    name = name or "unstreamed"
    if name in ACTS:
        ACTS[name](connection)
    else:
        connection.sendall(SAYS[name])


def request_of(connection: Connection) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")), 0
    )
    while len(body) < length:
        body += _more(connection)
    return head, body


def _more(connection: Connection) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the client left before its request was whole")
    return data


@contextmanager
def misbehaving() -> Iterator[Server]:
    server = Server()
    with serving(server.serve) as server.url:
        yield server
