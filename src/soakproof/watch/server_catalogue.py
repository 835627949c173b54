"""The catalogue of lines in a server's own log that tell of a fault: `server_signatures.json`, compiled.

A line has a signature only where it begins with it, after what a launcher, a journal or llama.cpp's own log
put before it: a prompt or an answer that quotes such a line, in the middle of a line, is none. Pure once it
is loaded.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from soakproof.watch.catalogue import Signature, signature_of

_FILE = Path(__file__).with_name("server_signatures.json")
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")


@dataclass(frozen=True, slots=True)
class ServerCatalogue:
    signatures: tuple[Signature, ...]
    heads: re.Pattern[str]
    benign: tuple[str, ...]

    def match(self, line: str) -> Signature | None:
        """The signature that a line bears; None for every other line."""
        text = self.without_head(line)
        return next((s for s in self.signatures if s.pattern.match(text)), None)

    def without_head(self, line: str) -> str:
        """What the server itself wrote."""
        plain = _COLOURS.sub("", line)
        head = self.heads.match(plain)
        return plain[head.end() :] if head else plain


@cache
def load_server_catalogue() -> ServerCatalogue:
    """The project's own catalogue."""
    document = json.loads(_FILE.read_text(encoding="utf-8"))
    return ServerCatalogue(
        signatures=tuple(signature_of(entry, {}) for entry in document["signatures"]),
        heads=re.compile("".join(f"(?:{head})?" for head in document["heads"])),
        benign=tuple(document["benign"]),
    )
