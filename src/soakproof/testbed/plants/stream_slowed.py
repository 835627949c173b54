"""A stream that is passed on slower than it is made."""

import asyncio
from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires


class StreamSlowed(EventPlant):
    """Each token is held back for a moment on its way: what took a second to make takes many to arrive."""

    default = 50
    unit = "milliseconds a token"
    modelled_on = "https://github.com/open-webui/open-webui/issues/7362"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "200 tokens"
"""
    fires = (Fires("functional: prose.pace", grade="slowed"),)
    may_fire = ("protocol: timings_under_clock",)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if content(document_of(data)):
            await asyncio.sleep(self.value / 1000)
        yield data
