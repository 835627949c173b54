"""An engine whose loop hangs in the middle of an answer: health goes on, slots and tokens do not."""

import asyncio

from soakproof.testbed.plant import Fires
from soakproof.testbed.plants.stall_silent import StallSilent


class SlotsWedged(StallSilent):
    """A stream stops after a few tokens, without a byte more, and from then on the engine's own address
    answers no question about its slots; health answers well.
    """

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/16448"
    plan = """
[bounds]
between_tokens = "21s"
[watch]
slots_every = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "400 tokens"
answer = "60 tokens"
"""
    seconds = 12
    fires = (
        Fires("scheduling: wedged"),
        Fires("functional: exchanges: stall", grade="stall"),
        Fires("functional: prose.stall", grade="ended"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._hangs = False
        self._lifted = asyncio.Event()

    async def stalled(self) -> None:
        self._hangs = True
        await super().stalled()

    async def look(self) -> None:
        if self._hangs:
            await self._lifted.wait()

    def lift(self) -> None:
        self._lifted.set()
