"""Requests that wait longer and longer."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant


class WaitsGrow(Plant):
    """Before each request the front does a little more than before the last, though nothing else waits."""

    default = 25
    unit = "milliseconds more a request"
    modelled_on = "https://github.com/trefeon/freebuff-proxy/issues/656"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "40 tokens"
answer = "16 tokens"
"""
    policy = """
[adjudicator.scheduling]
growth = "200ms"
"""
    think_time = "0s"
    seconds = 14
    fires = (Fires("scheduling: growing waits", within=None),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._seen = 0

    async def prefill(self, call: Call) -> None:
        self._seen += 1
        await asyncio.sleep(self._seen * self.value / 1000)
