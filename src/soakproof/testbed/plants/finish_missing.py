"""The chunk with the finish reason never comes."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, finish
from soakproof.testbed.plant import Call, Fires


class FinishMissing(EventPlant):
    """Streams end with [DONE], and no chunk of theirs has a finish reason."""

    modelled_on = "https://github.com/vllm-project/vllm/issues/27572"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (
        Fires("functional: exchanges: protocol", grade="protocol"),
        Fires("protocol: finish_reason_missing"),
    )

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if finish(document_of(data)) is None:
            yield data
