"""Answers without timings."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class TimingsMissing(EventPlant):
    """Every second answer has no timings."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/12137"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_missing", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None:
            yield data
        else:
            if call.number % 2 == 0:
                document.pop("timings", None)
            yield event(document)
