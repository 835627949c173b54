"""JSON is followed by a sentence about it."""

from typing import Any

from soakproof.testbed.objects import ObjectPlant
from soakproof.testbed.plant import Call, Fires

_AFTER = "\n\nNote: every field holds exactly the value that was asked for."


class TrailingProse(ObjectPlant):
    """After two of three JSON objects comes a sentence that explains them."""

    modelled_on = "https://github.com/mistralai/mistral-inference/issues/146"
    fires = (
        Fires("functional: json.strict", grade="trailing"),
        Fires("functional: json.schema", grade="trailing"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._objects = 0

    def spoiled(self, call: Call, text: str, found: dict[str, Any]) -> str:
        self._objects += 1
        return text if self._objects % 3 == 1 else text + _AFTER
