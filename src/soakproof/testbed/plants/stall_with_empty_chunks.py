"""A stream stops in the middle of its answer while chunks without text go on."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call
from soakproof.testbed.plants.stall_with_pings import StallWithPings


class StallWithEmptyChunks(StallWithPings):
    """Every stream stops after a few tokens; chunks whose delta is empty come on and on."""

    modelled_on = "https://github.com/vllm-project/vllm/issues/39863"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document: dict[str, Any] | None = document_of(data)
        if content(document) and self.sent(call) > self.value and document is not None:
            document["choices"][0]["delta"] = {}
            while True:
                yield event(document)
                await asyncio.sleep(0.1)
        async for made in EventPlant.event(self, call, data):
            yield made
