"""Plants that change the numbers which an answer comes with, and nothing of its text."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call

TEMPLATE = 32  # tokens: fewer that are restored are a template's beginning, and no hit


class CountingPlant(EventPlant):
    """Handed the usage and the timings of every answer, streamed or whole, to be changed in place."""

    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "400 tokens"
in_system = "0 %"
"""

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        """Either is empty where the answer has none."""

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and ("usage" in document or "timings" in document):
            yield event(self.whole(call, document))
        else:
            yield data

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        self.counted(call, document.get("usage") or {}, document.get("timings") or {})
        return document


def details(usage: dict[str, Any]) -> dict[str, Any]:
    """Where usage tells of cached tokens; empty where it does not."""
    found: dict[str, Any] = usage.get("prompt_tokens_details") or {}
    return found
