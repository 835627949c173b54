"""Somebody else's answer where reasoning stands."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires


class ReasoningOfAnother(EventPlant):
    """Each fifth answer is whole, and begins with reasoning that is the long answer before it."""

    default = 5
    unit = "requests from one to the next"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27994"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "60 tokens"
"""
    fires = (Fires("isolation: reasoning"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._said: dict[Call, list[str]] = {}
        self._before: list[str] = []

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and (text := content(document)):
            said = self._said.setdefault(call, [])
            if not said and self._before and call.number % self.value == 0:
                yield event(_reasoned(document, "".join(self._before)))
            said.append(text)
        elif call in self._said and document is not None and "timings" in document:
            self._before = self._said.pop(call)
        yield data


def _reasoned(document: dict[str, Any], text: str) -> dict[str, Any]:
    choice = document["choices"][0] | {"delta": {"reasoning_content": text}}
    return document | {"choices": [choice]}
