"""Answers in Lemonade's manner: sorted JSON, its headers, gzip when allowed, and connections that close when
its do. `Refusal` is how a handler ends with an error document.
"""

import gzip
from collections.abc import Sequence
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

CONNECTION = "soakproof.connection"  # the extension that `front` puts into each scope
PING = b": ping\n\n"  # the heartbeat of a stream
_LAST_REQUEST = 100  # of a connection

_Headers = list[tuple[bytes, bytes]]
_CORS: _Headers = [
    (b"access-control-allow-methods", b"GET, POST, PUT, DELETE, OPTIONS"),
    (
        b"access-control-allow-headers",
        b"Content-Type, Authorization, X-Client-Session-Id, X-Account-Session-Id, mcp-protocol-version, "
        b"traceparent, Mcp-Session-Id",
    ),
    (b"vary", b"Origin"),
]
_KEEP: _Headers = [(b"keep-alive", b"timeout=5, max=100")]
_CLOSE: _Headers = [(b"connection", b"close")]
STREAM_HEADERS: _Headers = [
    *_KEEP,
    (b"x-accel-buffering", b"no"),
    (b"content-type", b"text/event-stream"),
    (b"connection", b"keep-alive"),
    (b"cache-control", b"no-cache"),
    *_CORS,
]


class Refusal(Exception):
    """A request that is answered with an error; ``document`` may be bytes that are sent as they are."""

    def __init__(self, status: int, document: Any) -> None:
        self.status = status
        self.document = document


def dump(document: Any) -> bytes:
    """JSON with sorted keys at every depth."""
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)


def event(document: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + dump(document) + b"\n\n"


def respond(
    request: Request,
    document: Any,
    status: int = 200,
    content_type: bytes = b"application/json",
    more: Sequence[tuple[bytes, bytes]] = (),
) -> Response:
    """A whole answer to a request."""
    body = document if isinstance(document, bytes) else dump(document)
    headers = [*_manners(request, status), *_CORS, *more]
    if body:
        headers.append((b"content-type", content_type))
    if body and b"gzip" in request.headers.get("accept-encoding", "").encode():
        body = gzip.compress(body, 1)
        headers.append((b"content-encoding", b"gzip"))
    response = Response(status_code=status)
    response.body = body
    response.raw_headers = [*headers, (b"content-length", str(len(body)).encode())]
    return response


def _manners(request: Request, status: int) -> _Headers:
    connection = request.scope.get("extensions", {}).get(CONNECTION)
    last = connection is not None and connection.requests >= _LAST_REQUEST
    return _CLOSE if status >= 400 or last else _KEEP
