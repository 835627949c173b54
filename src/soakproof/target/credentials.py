"""API keys: found, sent, and never shown."""

import os
from dataclasses import dataclass, field

_HANDED_ON = "SOAKPROOF_API_KEY"
KEY_VARIABLES = ("LEMONADE_API_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True, slots=True)
class Credentials:
    """An API key; never shown, never written."""

    key: str | None = field(default=None, repr=False)

    @classmethod
    def find(cls, given: str | None) -> "Credentials":
        """The key that was given, else the first of LEMONADE_API_KEY and OPENAI_API_KEY that is set."""
        return cls(given or next((os.environ[v] for v in KEY_VARIABLES if os.environ.get(v)), None))

    def hand_on(self) -> str:
        """Put the key into this process's environment for its children; the variable's name, or nothing."""
        if not self.key:
            return ""
        os.environ[_HANDED_ON] = self.key
        return _HANDED_ON

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}
