"""Plants that spoil answers which are JSON objects, and leave every other answer as it is."""

import json
from typing import Any

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call


class ObjectPlant(TextPlant):
    """Handed each answer that is one JSON object, as text and as read."""

    plan = """
[mix]
structured_json = 1
"""
    seconds = 3

    def changed(self, call: Call, text: str) -> str:
        try:
            found = json.loads(text)
        except ValueError:
            return text
        return self.spoiled(call, text, found) if isinstance(found, dict) else text

    def spoiled(self, call: Call, text: str, found: dict[str, Any]) -> str:
        """What the client gets in place of the object."""
        return text
