"""An error as an event of a stream that began with status 200."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires


class ErrorInStream(EventPlant):
    """Every third stream breaks off with an error as data, and status 200."""

    modelled_on = "https://github.com/sgl-project/sglang/issues/12081"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: error_event", grade="error_event"),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if call.number % 3 or not content(document_of(data)):
            yield data
        else:
            yield event({"error": {"code": 500, "message": "Compute error.", "type": "server_error"}})
            await call.stop()
