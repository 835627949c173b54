"""A health document that is told as it once was."""

from typing import Any

from soakproof.testbed.plant import Call, Fires, Plant


class HealthStale(Plant):
    """The first health document is told for ever; soon after, the engine dies and another takes its place."""

    default = 8
    unit = "which request the engine dies at"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/2024"
    plan = """
[mix]
structured_json = 1
"""
    seconds = 14
    fires = (Fires("slots: stale health", outcome="INCONCLUSIVE", within=None),)
    may_fire = ("slots: restarted",)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._kept: dict[str, Any] | None = None
        self._asked = 0

    async def ask(self, call: Call) -> None:
        self._asked += 1
        if self._asked == self.value and (backend := call.model.loaded()) is not None:
            backend.child.kill()

    def health(self, document: dict[str, Any]) -> dict[str, Any]:
        self._kept = self._kept or document
        return self._kept
