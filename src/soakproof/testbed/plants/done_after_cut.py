"""A stream is cut, and [DONE] is put behind the cut."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import DONE, EventPlant
from soakproof.testbed.plant import Call, Fires


class DoneAfterCut(EventPlant):
    """Every second stream breaks off after a few tokens, and [DONE] makes it look whole."""

    default = 5
    unit = "events before the cut"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/blob/main/src/cpp/server/streaming_proxy.cpp"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (
        Fires("functional: exchanges: cut", grade="cut"),
        Fires("protocol: done_without_finish"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._sent: dict[Call, int] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        self._sent[call] = sent = self._sent.get(call, 0) + 1
        if call.number % 2 or sent <= self.value or data == DONE:
            yield data
