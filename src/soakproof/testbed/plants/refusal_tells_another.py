"""A refusal tells what somebody else had asked."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class RefusalTellsAnother(EventPlant):
    """An error that comes as an event ends with the last words of the prompt before it, in lower case. There
    is no answer in which anybody would look.
    """

    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/3228"
    plan = """
[mix]
isolation = 1
refusals = 1
"""
    seconds = 6
    fires = (Fires("isolation: foreign", within=12),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = self._before = ""

    async def ask(self, call: Call) -> None:
        self._before, self._asked = self._asked, call.prompt[-80:]

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document and "error" in document:
            document["error"]["message"] += f" (before it: {self._before.lower()})"
            data = event(document)
        yield data
