"""Answers that count no tokens."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class UsageMissing(EventPlant):
    """No answer has usage, though it was asked for."""

    modelled_on = "https://github.com/vllm-project/vllm/pull/50677"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: usage_missing", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None:
            yield data
        else:
            document.pop("usage", None)
            yield event(document)
