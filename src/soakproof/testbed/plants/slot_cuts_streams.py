"""One slot of several cuts what it streams."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires
from soakproof.testbed.plants.bad_slot import place

_TOKEN_S = 0.045  # an answer is as slow as a large model's, so that the slots are seen at work for it
_TOKENS = 30  # of an answer that is cut


class SlotCutsStreams(EventPlant):
    """Streams of one slot end after a few tokens; the other slots' are whole. All are slow, and their slots
    are shown at work for as long as they last.
    """

    default = 1
    unit = "the slot's number"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/25992"
    plan = """
[watch]
slots_every = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "100 tokens"
answer = "40 tokens"
"""
    users = 2
    think_time = "0s"
    seconds = 15
    fires = (
        Fires("functional: exchanges: cut", grade="cut"),
        Fires("slots: one slot", within=None),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._sent: Counter[Call] = Counter()

    async def ask(self, call: Call) -> None:
        place(call, self.calls)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if content(document_of(data)):
            await asyncio.sleep(_TOKEN_S)
            self._sent[call] += 1
        if call.document["id_slot"] != self.value or self._sent[call] < _TOKENS:
            yield data

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each slot at work for the call that was given to it and is not at its end."""
        calls = {call.document.get("id_slot"): call for call in self.calls}
        return [slot | _work(calls[slot["id"]]) if slot["id"] in calls else slot for slot in slots]


def _work(call: Call) -> dict[str, Any]:
    return {"is_processing": True, "id_task": call.number, "params": {"seed": call.document.get("seed")}}
