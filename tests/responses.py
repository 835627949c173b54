"""Responses for these tests: built, or replayed from `cases/inputs`, through a real Reading."""

import json
from collections.abc import Iterable
from typing import Any

from caseinputs import INPUTS

from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange, Failure, Opened

EVENT_STREAM = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json; charset=utf-8"}
MS = 1_000_000


def opened(**given: Any) -> Opened:
    fields: dict[str, Any] = {
        "id": "load-1",
        "node": "load",
        "scenario": "isolation",
        "iteration": 3,
        "role": "ask",
        "seed": 7,
        "due_ns": 0,
        "sent_ns": 0,
        "model_asked": "llm",
        "stream": True,
        "max_tokens": 512,
        "prompt_chars": 40,
        "prompt_digest": "ab",
    }
    return Opened(**(fields | given))


def chunk(delta: dict[str, Any] | None = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    """One chunk as llama.cpp writes it."""
    document: dict[str, Any] = {
        "choices": [{"finish_reason": finish, "index": 0, "delta": {} if delta is None else delta}],
        "created": 1790000000,
        "id": "chatcmpl-A1",
        "model": "m1",
        "object": "chat.completion.chunk",
    }
    return document | more


def text(content: str, **more: Any) -> dict[str, Any]:
    return chunk({"content": content}, **more)


ROLE = chunk({"role": "assistant", "content": None})
STOP = chunk(finish="stop")
DONE = "[DONE]"


def events(*items: dict[str, Any] | str) -> bytes:
    """An event stream's body: documents as JSON, texts as they are."""
    lines = (item if isinstance(item, str) else json.dumps(item) for item in items)
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def answer(*contents: str, end: Iterable[dict[str, Any] | str] = (STOP, DONE)) -> bytes:
    """A healthy stream with these deltas."""
    return events(ROLE, *(text(c) for c in contents), *end)


def reading(*, status: int = 200, headers: dict[str, str] | None = None, **given: Any) -> Reading:
    """A reading whose headers have come."""
    made = Reading(opened(**given))
    made.headers(1, status, EVENT_STREAM if headers is None else headers)
    return made


def read(body: bytes | Iterable[bytes], **given: Any) -> Exchange:
    """The record of a response that ended in good order."""
    made = reading(**given)
    for piece in [body] if isinstance(body, bytes) else body:
        made.body(2, piece)
    return made.end(3)


def replay(name: str) -> Exchange:
    """The record of a file in `cases/inputs`, whatever its form."""
    path = INPUTS / name
    if name.endswith(".sse"):
        return read(path.read_bytes())
    if name.endswith(".http"):
        return read_http(path.read_bytes())
    return replay_script(json.loads(path.read_text()))


def replay_script(script: dict[str, Any], bounds: Bounds | None = None) -> Exchange:
    """As a driver reads it: what hangs is ended by the bound that falls first."""
    made = Reading(opened())
    t_ns = 0
    for number, piece in enumerate(script["chunks"]):
        t_ns += piece["after_ms"] * MS
        if number == 0:
            made.headers(t_ns, script["status"], {k.lower(): v for k, v in script["headers"].items()})
        made.body(t_ns, piece["text"].encode() if "text" in piece else bytes.fromhex(piece["hex"]))
    if script["end"] == "close":
        return made.end(t_ns)
    if script["end"] == "hang":
        t_ns, failure = made.deadline(bounds or Bounds(), 0)
        return made.broke(t_ns, failure, "a bound fell")
    return made.broke(t_ns, Failure.RESET, script["end"])


def read_http(raw: bytes, **given: Any) -> Exchange:
    """A whole response; a chunked body without its last chunk is a broken connection."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
    made = reading(status=int(first.split()[1]), headers=headers, **given)
    if headers.get("transfer-encoding") != "chunked":
        made.body(2, body)
        return made.end(3)
    size, _, rest = body.partition(b"\r\n")
    made.body(2, rest[: int(size, 16)])
    return made.broke(3, Failure.RESET, "the body broke off")


# What servers say when they refuse or fail.

HTML = b"<!doctype html>\n\n<html><body><h1>502 Bad Gateway</h1></body></html>"
WATCHDOG = {
    "error": {
        "details": {
            "backend": "llama-server",
            "code": "backend_watchdog_reset",
            "reason": "backend process exited during streaming request",
            "retryable": True,
        },
        "message": "llama-server stopped",
        "type": "backend_error",
    }
}
TOO_LONG = {
    "error": {
        "code": 400,
        "message": "request (9000 tokens) exceeds the available context size (8192 tokens)",
        "type": "exceed_context_size_error",
        "n_ctx": 8192,
        "n_prompt_tokens": 9000,
    }
}


def encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()
