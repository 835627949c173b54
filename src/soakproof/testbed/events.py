"""Plants that work on whole events, or on an answer's whole text, in place of bytes as they come."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from soakproof.testbed.answers import PING
from soakproof.testbed.plant import Call, Plant, Push

DONE = b"data: [DONE]\n\n"
_BLANK = b"\n\n"


def event(document: dict[str, Any]) -> bytes:
    """One event, as llama.cpp writes it."""
    return b"data: " + json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + _BLANK


def document_of(data: bytes) -> dict[str, Any] | None:
    """An event's document; None for a comment, for [DONE] and for what is no object."""
    if not data.startswith(b"data: {"):
        return None
    document: dict[str, Any] = json.loads(data[len(b"data: ") :])
    return document


def delta(document: dict[str, Any] | None) -> dict[str, Any]:
    """The first choice's delta; empty where there is none."""
    choices = (document or {}).get("choices") or [{}]
    found: dict[str, Any] = choices[0].get("delta") or {}
    return found


def content(document: dict[str, Any] | None) -> str:
    """The text that a chunk adds to the answer."""
    return delta(document).get("content") or ""


def finish(document: dict[str, Any] | None) -> str | None:
    """The finish reason that a chunk has."""
    choices = (document or {}).get("choices") or [{}]
    found: str | None = choices[0].get("finish_reason")
    return found


class EventPlant(Plant):
    """Handed one whole event at a time, pings and [DONE] as well."""

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._rest: dict[Call, bytes] = {}

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        if data == PING:
            await self.ping(call, push)
            return
        *whole, rest = (self._rest.pop(call, b"") + data).split(_BLANK)
        if rest:
            self._rest[call] = rest
        for one in whole:
            async for made in self.event(call, one + _BLANK):
                await push(made)

    async def end(self, call: Call, push: Push) -> None:
        async for made in self.closing(call):
            await push(made)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        """What the client gets for one event."""
        yield data

    async def closing(self, call: Call) -> AsyncIterator[bytes]:
        """What the client gets after the last event."""
        return
        yield b""

    async def ping(self, call: Call, push: Push) -> None:
        """A heartbeat that the gateway wants to send."""
        await push(PING)


@dataclass
class _Held:
    """The chunks of one answer that have text, and when each came, in seconds of the loop's time."""

    chunks: list[dict[str, Any]] = field(default_factory=list)
    came: list[float] = field(default_factory=list)

    def add(self, chunk: dict[str, Any]) -> None:
        self.chunks.append(chunk)
        self.came.append(asyncio.get_running_loop().time())

    @property
    def text(self) -> str:
        return "".join(map(content, self.chunks))


class TextPlant(EventPlant):
    """Changes whole answers: what `changed` makes of the text is streamed in its place, in as many chunks as
    the answer had and with as much time between them, so that it does not look like one that was held back.
    Streams that `wants` does not want go through as they come.
    """

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._held: dict[Call, _Held] = {}

    def wants(self, call: Call) -> bool:
        """Whether this call's answer may be changed."""
        return True

    def changed(self, call: Call, text: str) -> str:
        """The text that the client gets."""
        return text

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if not self.wants(call) or document is None:
            yield data
        elif content(document):
            self._held.setdefault(call, _Held()).add(document)
        else:
            if finish(document) is not None and call in self._held:
                async for made in self._replayed(call):
                    yield made
            yield data

    async def _replayed(self, call: Call) -> AsyncIterator[bytes]:
        held = self._held.pop(call)
        text = self.changed(call, held.text)
        n, late = len(held.chunks), asyncio.get_running_loop().time() - held.came[0]
        for k, chunk in enumerate(held.chunks):
            await asyncio.sleep(held.came[k] + late - asyncio.get_running_loop().time())
            chunk["choices"][0]["delta"]["content"] = text[len(text) * k // n : len(text) * (k + 1) // n]
            yield event(chunk)

    def client_left(self, call: Call) -> None:
        self._held.pop(call, None)

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        if self.wants(call):
            message = document["choices"][0]["message"]
            message["content"] = self.changed(call, message.get("content") or "")
        return document


class NextAnswerPlant(TextPlant):
    """Changes one answer each time that it is armed: that of the next request which `suits`."""

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self.armed = False
        self._chosen: Call | None = None

    def suits(self, call: Call) -> bool:
        """Whether this request's answer may be the one."""
        return True

    async def ask(self, call: Call) -> None:
        if self.armed and self.suits(call):
            self.armed, self._chosen = False, call

    def wants(self, call: Call) -> bool:
        return call is self._chosen
