"""Pieces of one stream in another."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires


class AnswersInterleaved(EventPlant):
    """Of two streams that run at once, one is sent some pieces of the other's, in the other's name."""

    default = 3
    unit = "pieces"
    modelled_on = "https://github.com/QuantumNous/new-api/issues/5446"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("isolation: mixed"), Fires("functional: isolation.own"))
    may_fire = ("functional: isolation.foreign", "isolation: foreign")

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._pieces: dict[Call, list[bytes]] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        yield data
        if content(document_of(data)):
            self._pieces.setdefault(call, []).append(data)
            for other in self.calls - {call}:
                if call.number > other.number and len(self._pieces[call]) <= self.value:
                    for piece in self._pieces.get(other, [])[-1:]:
                        yield piece
