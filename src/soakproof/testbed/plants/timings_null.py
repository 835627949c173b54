"""Timings that are null."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class TimingsNull(EventPlant):
    """The timings of every second answer are null, or hold a rate that is."""

    modelled_on = "https://github.com/ggml-org/llama.vim/issues/86"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_null", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None:
            yield data
        else:
            if call.number % 2 == 0 and "timings" in document:
                document["timings"] |= {"predicted_ms": None, "predicted_per_second": None}
            yield event(document)
