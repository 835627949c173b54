"""A request that comes while another one runs is never begun."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw


class SecondNeverStarts(Plant):
    """A request that comes beside another one is taken and never answered; its slot stays free."""

    modelled_on = "https://github.com/orbi-build/orbi/issues/233"
    plan = """
[bounds]
first_token = "9s"
first_token_per_1000 = "1s"
[watch]
slots_every = "2s"
[mix]
isolation = 1
"""
    policy = """
[adjudicator.scheduling]
idle = "2s"
"""
    seconds = 8
    fires = (
        Fires("functional: exchanges: headers_timeout", grade="headers_timeout"),
        Fires("scheduling: lost"),
    )

    async def instead(self, call: Call) -> Raw | None:
        if all(other is call or other.left for other in self.calls):
            return None
        while not call.connection.transport.is_closing():
            await asyncio.sleep(0.05)
        return Raw(b"")
