"""After some requests every answer is a loop."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires

_PERIOD = 24  # characters


class LoopsAfter(EventPlant):
    """The server answers well at first; after some requests every answer says its beginning again and again,
    until only a restart helps.
    """

    default = 3
    unit = "requests that are answered well"
    modelled_on = "https://github.com/ollama/ollama/pull/17360"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "80 tokens"
"""
    think_time = "0s"
    seconds = 5
    fires = (Fires("functional: prose.repetition", grade="loop"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = 0
        self._looping: dict[Call, str] = {}  # what the engine says

    async def ask(self, call: Call) -> None:
        self._asked += 1
        if self._asked > self.value:
            self._looping[call] = ""

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if call in self._looping and document is not None and (text := content(document)):
            before = len(self._looping[call])
            said = self._looping[call] = self._looping[call] + text
            loop = said[:_PERIOD]
            looped = (loop[at % len(loop)] for at in range(before, len(said)))
            document["choices"][0]["delta"]["content"] = "".join(looped)
            data = event(document)
        yield data
