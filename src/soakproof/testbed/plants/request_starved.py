"""One request waits while all that came later are served."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant


class RequestStarved(Plant):
    """The third request is put off for a while, and all that come after it are served before it."""

    default = 8
    unit = "seconds"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/15008"
    plan = """
[watch]
slots_every = "2s"
[mix]
structured_json = 1
"""
    policy = """
[adjudicator.scheduling]
overtaken = 4
wait = "4s"
waits = 1
"""
    users = 2
    think_time = "0s"
    seconds = 10
    fires = (Fires("scheduling: overtaken", within=None), Fires("scheduling: waits", within=None))

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._seen = 0

    async def prefill(self, call: Call) -> None:
        self._seen += 1
        if self._seen == 3:
            await asyncio.sleep(self.value)
