"""A line of somebody else's prompt stands in the middle of a long answer."""

import re
from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires

_SECRET = re.compile(r"(?<![A-Z0-9])[A-HJ-NP-Z2-9]{4}-?[A-HJ-NP-Z2-9]{4}(?![A-Z0-9])")


class ForeignInProse(EventPlant):
    """A word of the latest short request comes up in every long answer, some tokens from its beginning."""

    default = 12
    unit = "token events before it"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27994"
    plan = """
deck = 2
[mix]
isolation = 1
long_prose = 1
[kind.isolation]
without_marker = "0 %"
with_secret = "0 %"
[kind.long_prose]
prompt = "200 tokens"
answer = "60 tokens"
"""
    seconds = 5
    fires = (
        Fires("functional: prose.foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._word = ""
        self._sent: dict[Call, int] = {}

    async def ask(self, call: Call) -> None:
        if not call.document.get("ignore_eos") and (found := _SECRET.search(call.prompt)):
            self._word = found[0]

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and content(document) and call.document.get("ignore_eos"):
            self._sent[call] = self._sent.get(call, 0) + 1
            if self._sent[call] == self.value:
                document["choices"][0]["delta"]["content"] = f" {self._word} "
                data = event(document)
        yield data
