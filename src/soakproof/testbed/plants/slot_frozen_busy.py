"""A slot that a client left stays busy and decodes nothing."""

from typing import Any

from soakproof.testbed.plant import Call, Fires, Plant


class SlotFrozenBusy(Plant):
    """The slot of the first client that leaves is shown as busy with its request for ever, and its count of
    tokens stands still.
    """

    modelled_on = "https://github.com/am17an/llama.cpp/issues/20"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
bystander = "60 tokens"
within = "2s"
"""
    seconds = 6
    fires = (
        Fires("functional: cancel.released", grade="held"),
        Fires("slots: released", within=None),
        Fires("slots: end", within=None),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._seed: int | None = None
        self._frozen: dict[str, Any] | None = None

    def client_left(self, call: Call) -> None:
        if self._seed is None:
            self._seed = call.document.get("seed")

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if self._seed is None:
            return slots
        for slot in slots:
            if self._frozen is None and slot.get("params", {}).get("seed") == self._seed:
                self._frozen = slot | {"is_processing": True}
        frozen = self._frozen or slots[-1] | {"is_processing": True, "params": {"seed": self._seed}}
        return [frozen if slot["id"] == frozen["id"] else slot for slot in slots]
