"""Asking the servers over HTTP: bounded in time and size, a fresh connection each, no proxies, no redirects.

A pooled connection is closed by the server after five seconds, in the middle of a request if need be; a new
one costs a millisecond.
"""

import os
from dataclasses import dataclass
from typing import Any

import httpx
import orjson

from soakproof.nesting import TooDeepError, bounded
from soakproof.records import SourceState
from soakproof.redaction import redacted, without_key
from soakproof.watch.settings import WatchConfig

PROBE_BOUND_S = 5.0  # probes that wait behind a prefill are not repeated meanwhile
_BODY_LIMIT = 8 << 20
_SAID_LIMIT = 200  # characters of a server's own words
_STATES: dict[int, SourceState] = {
    401: "denied",
    403: "denied",
    404: "unsupported",
    405: "unsupported",
    501: "unsupported",
}


class NoAnswerError(Exception):
    """No document: ``state`` says of which kind, the message why."""

    def __init__(self, state: SourceState, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.state: SourceState = state
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    content_type: str
    body: bytes


class Http:
    """One client for all probes of the watch. The API key goes to the front only."""

    def __init__(self, config: WatchConfig) -> None:
        self._front = config.base_url
        self._key = os.environ.get(config.headers_env) if config.headers_env else None
        self._client = httpx.AsyncClient(
            trust_env=False,
            timeout=None,  # whoever asks has a bound
            headers={"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "soakproof-watch"},
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=self._front.startswith("https:"),
        )

    async def get(self, url: str) -> Answer:
        """The answer to a GET, whatever its status. Raises NoAnswerError when there is none."""
        return await self._ask("GET", url, None)

    async def post(self, url: str, document: Any) -> Answer:
        """The answer to a POST of a JSON document, whatever its status. Raises NoAnswerError."""
        return await self._ask("POST", url, document)

    async def _ask(self, method: str, url: str, document: Any) -> Answer:
        headers = self._headers(url)
        try:
            async with self._client.stream(method, url, headers=headers, json=document) as response:
                body = bytearray()
                async for part in response.aiter_raw():
                    body += part
                    if len(body) > _BODY_LIMIT:
                        raise NoAnswerError("error", f"an answer of more than {_BODY_LIMIT >> 20} MiB")
                return Answer(response.status_code, response.headers.get("content-type", ""), bytes(body))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            told = f"{type(error).__name__}: {error}".rstrip(": ")
            raise NoAnswerError("error", self.safe(told)) from error

    async def document(self, url: str) -> Any:
        """The JSON of an answer with status 200, without the key. Raises NoAnswerError for all others."""
        answer = await self.get(url)
        found, problem = read_json(answer)
        if answer.status != 200:
            raise self._refused(answer)
        if problem:
            raise NoAnswerError("error", problem, answer.status)
        return without_key(found, self._key)  # some servers repeat it

    async def text(self, url: str) -> str:
        """The text of an answer with status 200. Raises NoAnswerError for every other answer."""
        answer = await self.get(url)
        if answer.status != 200:
            raise self._refused(answer)
        if "html" in answer.content_type:
            raise NoAnswerError("error", read_json(answer)[1].replace("JSON", "metrics"), answer.status)
        return answer.body.decode("utf-8", "replace")

    def _refused(self, answer: Answer) -> NoAnswerError:
        """In the server's own words."""
        told = self.safe(error_text(read_json(answer)[0], answer))
        state = _STATES.get(answer.status, "error")
        return NoAnswerError(state, f"status {answer.status}: {told}", answer.status)

    def _headers(self, url: str) -> dict[str, str]:
        ours = bool(self._key) and (url == self._front or url.startswith(f"{self._front}/"))
        return {"Authorization": f"Bearer {self._key}"} if ours else {}

    def safe(self, told: str) -> str:
        """A server's words, bounded; a server that repeats the key does not get it into the evidence."""
        return redacted(told, [self._key] if self._key else [])[:_SAID_LIMIT]


def read_json(answer: Answer) -> tuple[Any, str]:
    """The document, or None and why there is none. A page of HTML is not parsed, whatever its status."""
    if "html" in answer.content_type:
        return None, f"answered a page ({answer.content_type}) in place of JSON"
    try:
        return bounded(orjson.loads(answer.body)), ""
    except TooDeepError as error:
        return None, f"answered JSON that is {error}"
    except orjson.JSONDecodeError as error:
        return None, f"answered no JSON: {error}"


def error_text(document: Any, answer: Answer) -> str:
    """The server's own words for what is wrong, in any of the shapes that errors have."""
    error = document.get("error") if isinstance(document, dict) else None
    if isinstance(error, dict):
        error = error.get("message")
    if isinstance(error, str):
        return error
    return answer.body[:_SAID_LIMIT].decode("utf-8", "replace") if document is None else ""
