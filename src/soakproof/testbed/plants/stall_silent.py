"""A stream stops in the middle of its answer, and nothing comes any more."""

import asyncio

from soakproof.testbed.plant import Call, Push
from soakproof.testbed.plants.stall_with_pings import StallWithPings


class StallSilent(StallWithPings):
    """Every stream stops after a few tokens, without a byte more; it stays open, and health answers."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27388"

    async def ping(self, call: Call, push: Push) -> None:
        await asyncio.sleep(0)
