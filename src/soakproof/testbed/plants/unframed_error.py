"""An error in the body of a stream without the frame of an event."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant
from soakproof.testbed.plant import Call, Fires


class UnframedError(EventPlant):
    """Every third stream holds a bare JSON error and nothing else, with status 200."""

    modelled_on = "https://github.com/amd/gaia/issues/3501"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (
        Fires("functional: exchanges: error_event", grade="error_event"),
        Fires("protocol: unframed_error"),
    )

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if call.number % 3:
            yield data
        else:
            yield b'{"error":{"code":500,"message":"Compute error.","type":"server_error"}}'
            await call.stop()
