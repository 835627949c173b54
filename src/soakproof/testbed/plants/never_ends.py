"""An answer that goes on for ever."""

import asyncio
from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, finish
from soakproof.testbed.plant import Call, Fires


class NeverEnds(EventPlant):
    """Every second stream says its last word again and again, and never that it is done."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/3969"
    plan = """
[bounds]
total = "3s"
[mix]
structured_json = 1
"""
    fires = (Fires("functional: exchanges: total_timeout", grade="total_timeout"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._last: dict[Call, bytes] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if call.number % 2 == 0 and finish(document_of(data)) is not None:
            while True:
                yield self._last[call]
                await asyncio.sleep(0.05)
        self._last[call] = data
        yield data
