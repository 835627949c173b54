"""A finish reason that is an empty text."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event, finish
from soakproof.testbed.plant import Call, Fires


class FinishEmpty(EventPlant):
    """The last chunk has an empty text for its finish reason, where clients look for stop or length."""

    modelled_on = "https://github.com/ollama/ollama/issues/4357"
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
        document = document_of(data)
        if document is not None and finish(document) is not None:
            document["choices"][0]["finish_reason"] = ""
            yield event(document)
        else:
            yield data
