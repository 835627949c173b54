"""What a server sends beside its answer, where few clients look: searched for what looks like a secret."""

import re

from soakproof.context import nonces, respelled

CHARS = 1 << 18  # of one text that are searched
MOST = 128  # that are kept, or few more
_ESCAPED = re.compile(r"\\u00([0-7][0-9A-Fa-f])")  # as JSON may write what secrets are made of


class Stray:
    """Secrets in headers, comments, events and documents, wherever in them: as they are written, or, of
    one that stands there in another spelling, its eight letters.
    """

    def __init__(self) -> None:
        self.secrets: set[str] = set()

    def add(self, *texts: str) -> None:
        """Texts as they came, JSON's escapes included."""
        for text in texts:
            if len(self.secrets) < MOST:
                shown = text[:CHARS]
                if "\\u00" in shown:
                    shown = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), shown)
                found = nonces(shown)
                bare = {nonce.replace("-", "") for nonce in found}
                self.secrets |= found | (respelled(shown) - bare)
