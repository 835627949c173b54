"""A prompt that takes long, with pings all the while."""

import asyncio

from soakproof.testbed.plant import Call, Plant


class SlowPrefill(Plant):
    """The first token comes late; pings fill the time, as they do on a slow machine."""

    default = 2.5
    unit = "seconds"
    harmless = True
    modelled_on = "https://github.com/lemonade-sdk/lemonade/pull/3210"
    plan = """
[mix]
structured_json = 1
isolation = 1
cancellation = 1
[kind.cancellation]
bystander = "60 tokens"
"""
    users = 2
    seconds = 12
    verdict = "PASS"

    async def prefill(self, call: Call) -> None:
        await asyncio.sleep(self.value)
