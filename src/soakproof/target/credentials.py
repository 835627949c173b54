"""API keys: found, sent, and never shown."""

import os
from dataclasses import dataclass, field

from soakproof.errors import UsageError

_HANDED_ON = "SOAKPROOF_API_KEY"
KEY_VARIABLES = ("LEMONADE_API_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True, slots=True)
class Credentials:
    """An API key; never shown, never written."""

    key: str | None = field(default=None, repr=False)

    @classmethod
    def find(cls, given: str | None) -> "Credentials":
        """The key that was given, else the first of LEMONADE_API_KEY and OPENAI_API_KEY that is set.

        White space around it, such as a file's line end, is no part of it. Raises UsageError for a key that
        no header can carry.
        """
        if given and given.strip():
            return cls(_sendable(given.strip(), "--api-key"))
        for variable in KEY_VARIABLES:
            key = os.environ.get(variable, "").strip()
            if key:
                return cls(_sendable(key, variable))
        return cls()

    def hand_on(self) -> str:
        """Put the key into this process's environment for its children; the variable's name, or nothing."""
        if not self.key:
            return ""
        os.environ[_HANDED_ON] = self.key
        return _HANDED_ON

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


def _sendable(key: str, source: str) -> str:
    """The key, which is not shown, if it is visible ASCII."""
    place = next((place for place, character in enumerate(key, 1) if not "!" <= character <= "~"), None)
    if place is not None:
        raise UsageError(
            f"{source}: a key has visible ASCII characters only; character {place} of {len(key)} is none",
            "was it copied with a line end, a space or a quote?",
        )
    return key
