"""Answers that come where reasoning stands."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, delta, document_of, event
from soakproof.testbed.plant import Call, Fires


class AnswerMovedToReasoning(EventPlant):
    """The text of every fourth answer is told as reasoning, and its content is empty."""

    default = 4
    unit = "requests from one to the next"
    modelled_on = "https://github.com/xorbitsai/inference/issues/3673"
    plan = """
[mix]
isolation = 1
"""
    fires = (Fires("functional: misplaced"),)
    may_fire = ("functional: isolation.own", "functional: exchanges: empty")

    def _is_moved(self, call: Call) -> bool:
        return call.number % self.value == 0

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if self._is_moved(call) and "content" in (told := delta(document)):
            told["reasoning_content"] = told.pop("content")
            data = event(document or {})
        yield data

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        message = document["choices"][0]["message"]
        if self._is_moved(call):
            message["reasoning_content"], message["content"] = message.get("content"), ""
        return document
