"""A stream stops in the middle of its answer while its heartbeat goes on."""

import asyncio
from collections.abc import AsyncIterator
from typing import ClassVar

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires


class StallWithPings(EventPlant):
    """Every stream stops after a few tokens; comments come on and on, and health answers."""

    default = 5
    unit = "token events before the stall"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/pull/3210"
    plan = """
[bounds]
between_tokens = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "400 tokens"
answer = "60 tokens"
"""
    fires: ClassVar[tuple[Fires, ...]] = (
        Fires("functional: exchanges: stall", grade="stall"),
        Fires("functional: prose.stall", grade="ended"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._sent: dict[Call, int] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if content(document_of(data)) and self.sent(call) > self.value:
            await self.stalled()
        yield data

    def sent(self, call: Call) -> int:
        """Count one more token event of this stream."""
        self._sent[call] = self._sent.get(call, 0) + 1
        return self._sent[call]

    async def stalled(self) -> None:
        await asyncio.Event().wait()
