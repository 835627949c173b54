"""An event that never ends."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant, Push

_PART = b"x" * 1_000_000


class EndlessLine(Plant):
    """Every second stream is one line of data without end."""

    modelled_on = "https://github.com/aio-libs/aiohttp/issues/4453"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: frame_over_limit", grade="frame_over_limit"),)

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        if call.number % 2:
            await push(data)
            return
        await push(b"data: ")
        while True:
            await push(_PART)
            await asyncio.sleep(0.001)  # a push to a client that has left does not wait
