"""The first answer after a refusal is wrong."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires


class WrongAfterRefusal(TextPlant):
    """After a request that the engine refused, the next stream is answered with other words."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/15008"
    plan = """
[mix]
refusals = 1
"""
    seconds = 6
    fires = (Fires("functional: refusal.after", within=12),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._armed = False
        self._wrong: Call | None = None

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if b'"error"' in data:
            self._armed = True
        async for made in super().event(call, data):
            yield made

    async def ask(self, call: Call) -> None:
        if self._armed and call.prompt.startswith("Re") and call.stream:
            self._armed, self._wrong = False, call

    def wants(self, call: Call) -> bool:
        return call is self._wrong

    def changed(self, call: Call, text: str) -> str:
        return text[::-1]
