"""One slot of several answers with what it held before."""

from collections.abc import Iterable

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires


def place(call: Call, calls: Iterable[Call]) -> None:
    """Choose the slot of a call, so that it is known: the one that works for the fewest of ``calls``."""
    busy = [other.document.get("id_slot") for other in calls if other is not call]
    call.document["id_slot"] = min(range(call.model.options.slots), key=busy.count)


class BadSlot(TextPlant):
    """What one slot answers is what it was asked the time before; the other slots are right."""

    default = 1
    unit = "the slot's number"
    modelled_on = "https://github.com/waybarrios/vllm-mlx/pull/385"
    plan = """
[mix]
isolation = 1
"""
    users = 2
    seconds = 5
    fires = (
        Fires("functional: isolation.own", grade="wrong"),
        Fires("functional: isolation.foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._before = ""

    async def ask(self, call: Call) -> None:
        place(call, self.calls)

    def wants(self, call: Call) -> bool:
        return bool(call.document["id_slot"] == self.value)

    def changed(self, call: Call, text: str) -> str:
        text, self._before = self._before or text, text
        return text
