"""Questions to a server beside the load, bounded in time and size whatever it does. Blocking, by httpx.

A timeout of a socket starts anew with each byte; a server that sends one now and then would hold its client
for ever. So each question is asked in a thread, which is left behind when its time is over. Under gevent the
thread is a greenlet.
"""

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from soakproof.nesting import bounded
from soakproof.reading.lenient import parse

BODY_LIMIT = 8 << 20  # bytes; a health document has a few thousand
_CONNECT_S = 5.0
# ValueError: an address that is none. RuntimeError: another question was left behind with this client.
_NO_ANSWER = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, RuntimeError)


class NoAnswerError(Exception):
    """Nobody answered, or not in time, or without end; says which."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    content_type: str
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body's value. Raises ValueError for what is no JSON, or nested too deep."""
        return bounded(parse(self.text)[0])


class Asking:
    """Asks under one client, a fresh connection each time. ``headers``, the API key, go to ``front`` only."""

    def __init__(self, front: str, headers: Mapping[str, str]) -> None:
        self._front = front.rstrip("/")
        self._headers = dict(headers)
        self._client = self._new()

    def get(self, url: str, within: float) -> Answer:
        """The answer to a GET, whatever its status. Raises NoAnswerError after ``within`` seconds at most."""
        return self._ask("GET", url, None, within)

    def post(self, url: str, body: Mapping[str, Any], within: float) -> Answer:
        return self._ask("POST", url, body, within)

    def _new(self) -> httpx.Client:
        return httpx.Client(
            headers={"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "soakproof"},
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
            verify=self._front.startswith("https:"),  # loading certificates takes long, and is for them only
        )

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, url: str, body: Mapping[str, Any] | None, within: float) -> Answer:
        told: list[Answer | Exception] = []

        def ask() -> None:
            try:
                told.append(_whole(self._client, method, url, self._headers_for(url), body, within))
            except Exception as error:
                told.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(within)
        if not told:
            self._leave_behind()
            raise NoAnswerError(f"no whole answer within {within:g} s")
        if isinstance(told[0], NoAnswerError):
            raise told[0]
        if isinstance(told[0], _NO_ANSWER):
            raise NoAnswerError(_words(told[0])) from told[0]
        if isinstance(told[0], Exception):
            raise told[0]
        return told[0]

    def _headers_for(self, url: str) -> dict[str, str]:
        ours = url == self._front or url.startswith(f"{self._front}/")
        return self._headers if ours else {}

    def _leave_behind(self) -> None:
        """End the thread's connection, so that it ends as well, and go on with another client."""
        left, self._client = self._client, self._new()
        with contextlib.suppress(Exception):
            left.close()


def _whole(
    client: httpx.Client,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: Mapping[str, Any] | None,
    within: float,
) -> Answer:
    timeout = httpx.Timeout(within, connect=min(_CONNECT_S, within))
    with client.stream(method, url, headers=headers, json=body, timeout=timeout) as response:
        read = bytearray()
        for part in response.iter_raw():
            read += part
            if len(read) > BODY_LIMIT:
                raise NoAnswerError(f"an answer of more than {BODY_LIMIT >> 20} MiB")
        return Answer(response.status_code, response.headers.get("content-type", ""), bytes(read))


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
