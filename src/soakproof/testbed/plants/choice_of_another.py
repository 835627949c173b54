"""A second choice that nobody asked for, with somebody else's words in it."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires


class ChoiceOfAnother(EventPlant):
    """Each third answer is whole, and brings a second choice: the last words of the prompt before it."""

    default = 3
    unit = "requests from one to the next"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27994"
    plan = """
[mix]
isolation = 1
"""
    fires = (Fires("protocol: other_choices"), Fires("isolation: foreign"))

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = 0
        self._before = ""
        self._chosen: dict[Call, str] = {}

    async def ask(self, call: Call) -> None:
        self._asked += 1
        if self._before and self._asked % self.value == 0:
            self._chosen[call] = self._before
        self._before = call.prompt[-80:]

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if content(document) and (words := self._chosen.pop(call, "")):
            yield event(_second(document or {}, words))
        yield data


def _second(document: dict[str, Any], words: str) -> dict[str, Any]:
    return document | {"choices": [{"index": 1, "finish_reason": None, "delta": {"content": words}}]}
