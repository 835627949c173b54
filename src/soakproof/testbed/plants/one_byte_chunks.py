"""Bytes of a stream in chunks of their own."""

import asyncio

from soakproof.testbed.plant import Call, Plant, Push


class OneByteChunks(Plant):
    """Every eighth piece of an answer comes byte by byte: events and characters are cut everywhere."""

    default = 8
    unit = "pieces to one that comes in bytes"
    harmless = True
    modelled_on = "https://github.com/xberg-io/liter-llm/issues/152"
    plan = """
[mix]
structured_json = 1
isolation = 1
"""
    verdict = "PASS"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._pieces = 0

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        self._pieces += 1
        if self._pieces % int(self.value):  # all of them would take more than this gateway has to give
            await push(data)
            return
        for byte in data:
            await push(bytes((byte,)))
            await asyncio.sleep(0)
