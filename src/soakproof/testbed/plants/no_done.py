"""A stream ends without [DONE]."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import DONE, EventPlant
from soakproof.testbed.plant import Call, Fires


class NoDone(EventPlant):
    """Streams end with their finish reason; the last event that every client waits for is left out."""

    modelled_on = "https://github.com/lemonade-sdk/lemonade/blob/main/src/cpp/server/streaming_proxy.cpp"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: finish_without_done"),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if data != DONE:
            yield data
