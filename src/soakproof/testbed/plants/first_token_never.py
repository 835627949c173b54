"""A stream that begins and pings, and never has a token."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant


class FirstTokenNever(Plant):
    """Every third stream has its head and its heartbeat, and the engine is never asked."""

    modelled_on = "https://github.com/orbi-build/orbi/issues/233"
    plan = """
[bounds]
first_token = "2s"
first_token_per_1000 = "1s"
[mix]
isolation = 1
"""
    fires = (Fires("functional: exchanges: first_token_timeout", grade="first_token_timeout"),)

    async def prefill(self, call: Call) -> None:
        if call.number % 3 == 0:
            await asyncio.Event().wait()
