"""The tail of a cancelled answer stands before the next one."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires


class CancelledTail(EventPlant):
    """What a client that left had not read to its end is put before the answer to the next request."""

    default = 8
    unit = "token events of the cancelled answer that do not come again"
    modelled_on = "https://github.com/GradientHQ/parallax/issues/87"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
tokens = "400 tokens"
bystander = "60 tokens"
within = "20s"
"""
    fires = (
        Fires("functional: cancel.after"),
        Fires("functional: cancel.ghost"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._said: dict[Call, list[str]] = {}
        self._left = ""
        self._owed: dict[Call, str] = {}

    async def ask(self, call: Call) -> None:
        self._said[call] = []
        self._owed[call], self._left = self._left, ""

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and (text := content(document)):
            self._said[call].append(text)
            document["choices"][0]["delta"]["content"] = self._owed.pop(call, "") + text
            data = event(document)
        yield data

    def client_left(self, call: Call) -> None:
        self._left = "".join(self._said[call][int(self.value) :])
