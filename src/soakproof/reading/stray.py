"""What a server sends beside its answer, where few clients look: searched for what looks like a secret.

All that was sent is searched as it came. What is written with escapes is found where it is read: in the
answer, which is searched as such, and here in the fields beside it.
"""

from collections.abc import Mapping
from typing import Any

from soakproof.context import nonces

CHARS = 1 << 18  # of one text that are searched
MOST = 128  # that are kept, or few more
_READ = frozenset(
    ("id", "object", "created", "model", "choices", "usage", "timings", "error", "system_fingerprint")
)
_READ_OF_CHOICE = frozenset(("index", "delta", "message", "finish_reason", "logprobs"))
_ASKED_FOR = (0, None, "0")  # indexes of the one choice
_READ_OF_DELTA = frozenset(("role", "content", "reasoning_content", "reasoning", "tool_calls"))


class Stray:
    """Secrets in comments, headers, events and documents, wherever in them."""

    def __init__(self) -> None:
        self.secrets: set[str] = set()

    def add(self, *texts: str) -> None:
        for text in texts:
            if len(self.secrets) < MOST:
                self.secrets |= nonces(text[:CHARS])

    def fields(self, chunk: Mapping[str, Any]) -> None:
        """Whatever a chunk, its choice and that one's delta have beside what clients read; and all that
        stands in choices that were not asked for.
        """
        self._beside(chunk, _READ)
        choices = chunk.get("choices")
        own_seen = False
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in _ASKED_FOR and not own_seen:
                own_seen = True
                self._of_choice(choice)
            else:
                self.add(str(choice)[:CHARS])

    def _of_choice(self, choice: Mapping[str, Any]) -> None:
        self._beside(choice, _READ_OF_CHOICE)
        for name in ("delta", "message"):
            if isinstance(choice.get(name), dict):
                self._beside(choice[name], _READ_OF_DELTA)

    def _beside(self, fields: Mapping[str, Any], read: frozenset[str]) -> None:
        for name in fields.keys() - read:
            self.add(str(fields[name])[:CHARS])
