"""Slots that are told as they once were."""

from typing import Any

from soakproof.testbed.plant import Fires, Plant


class SlotsStale(Plant):
    """The first document of the slots is kept and told for ever."""

    modelled_on = "https://github.com/intentee/paddler/issues/19"
    plan = """
[watch]
slots_every = "2s"
[mix]
structured_json = 1
"""
    seconds = 8
    fires = (Fires("slots: stale", outcome="INCONCLUSIVE", within=None),)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._kept: list[dict[str, Any]] | None = None

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self._kept = self._kept or slots
        return self._kept
