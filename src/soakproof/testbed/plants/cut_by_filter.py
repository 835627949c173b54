"""Answers that a content filter cut."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, document_of, event, finish
from soakproof.testbed.plant import Call, Fires


class CutByFilter(EventPlant):
    """Harmless answers end with the finish reason content_filter."""

    modelled_on = "https://github.com/BerriAI/litellm/issues/8953"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: finish_reason_filtered", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and finish(document) is not None:
            yield event(self.whole(call, document))
        else:
            yield data

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        document["choices"][0]["finish_reason"] = "content_filter"
        return document
