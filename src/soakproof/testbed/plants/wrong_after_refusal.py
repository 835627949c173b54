"""The first answer after a refusal is wrong."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import NextAnswerPlant
from soakproof.testbed.plant import Call, Fires


class WrongAfterRefusal(NextAnswerPlant):
    """After a request that the engine refused, the next stream is answered with other words."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/15008"
    plan = """
[mix]
refusals = 1
"""
    seconds = 6
    fires = (Fires("functional: refusal.after", within=12),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if b'"error"' in data:
            self.armed = True
        async for made in super().event(call, data):
            yield made

    def suits(self, call: Call) -> bool:
        return call.stream and call.prompt.startswith("Re")

    def changed(self, call: Call, text: str) -> str:
        return text[::-1]
