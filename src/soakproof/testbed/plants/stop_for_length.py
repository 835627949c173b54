"""What max_tokens cut has the finish reason stop."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, document_of, event, finish
from soakproof.testbed.plant import Call, Fires


class StopForLength(EventPlant):
    """Answers that max_tokens cut short claim to have come to their own end: the finish reason is stop."""

    modelled_on = "https://github.com/BerriAI/litellm/issues/25825"
    plan = """
[mix]
structured_json = 1
[kind.structured_json]
tokens = "24 tokens"
"""
    seconds = 3
    fires = (
        Fires("functional: json.strict", grade="truncated_stop"),
        Fires("functional: json.schema", grade="truncated_stop"),
        Fires("protocol: stop_at_limit"),
    )

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and finish(document) == "length":
            yield event(self.whole(call, document))
        else:
            yield data

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        if finish(document) == "length":
            document["choices"][0]["finish_reason"] = "stop"
        return document
