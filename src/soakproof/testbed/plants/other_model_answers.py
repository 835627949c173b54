"""The answer names another model than the one that was asked for."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires

OTHER = "Llama-3.2-1B-Instruct-Q4_K_M.gguf"


class OtherModelAnswers(EventPlant):
    """Every third answer says that a model made it that nobody asked for."""

    modelled_on = "https://github.com/unslothai/unsloth/issues/8376"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("routing: model"),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None or call.number % 3:
            yield data
        else:
            yield event(document | {"model": OTHER})

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        return document if call.number % 3 else document | {"model": OTHER}
