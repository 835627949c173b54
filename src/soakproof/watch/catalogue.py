"""The catalogue of kernel lines that tell of a fault: `signatures.json`, compiled. Pure once it is loaded."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("signatures.json")
_NAME_LIMIT = 64  # characters of a process's name


@dataclass(frozen=True, slots=True)
class Process:
    """A process that a line names. The kernel does not always know both."""

    name: str | None
    pid: int | None


@dataclass(frozen=True, slots=True)
class Signature:
    """One kind of fault line."""

    id: str
    what: str  # in words
    fault_class: str
    severity: str  # fatal, fail, warn, info, or by_code
    counts: bool  # one is a warning, many are a failure: whoever judges counts them
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A line's signature, with the severity of this very line and the process that it names."""

    signature: Signature
    severity: str
    process: Process | None

    @property
    def opens_incident(self) -> bool:
        return self.severity in ("fatal", "fail") or self.signature.counts


@dataclass(frozen=True, slots=True)
class Catalogue:
    signatures: tuple[Signature, ...]
    codes: Mapping[str, str]
    names_process: tuple[re.Pattern[str], ...]
    benign: tuple[str, ...]

    def match(self, message: str) -> Match | None:
        """The first signature that a message bears; None for every other line."""
        for signature in self.signatures:
            found = signature.pattern.search(message)
            if found:
                return Match(signature, self._severity(signature, found), self.process(message, found))
        return None

    def _severity(self, signature: Signature, found: re.Match[str]) -> str:
        if signature.severity != "by_code":
            return signature.severity
        return self.codes.get(found["code"], self.codes["default"])

    def process(self, message: str, found: re.Match[str] | None = None) -> Process | None:
        """The process that a line names, by its own signature's groups or in one of the usual phrases."""
        candidates = [found, *(pattern.search(message) for pattern in self.names_process)]
        return next((p for m in candidates if m and (p := _process(m.groupdict()))), None)


def _process(groups: Mapping[str, str | None]) -> Process | None:
    """The kernel writes pid 0 and no name for a process that it does not know."""
    pid = int((groups.get("pid") or "0")[:10])
    return Process((groups.get("comm") or "").strip()[:_NAME_LIMIT] or None, pid) if pid else None


@cache
def load_catalogue() -> Catalogue:
    """The project's own catalogue."""
    document = json.loads(_FILE.read_text(encoding="utf-8"))
    prefixes = document["prefixes"]
    return Catalogue(
        signatures=tuple(signature_of(entry, prefixes) for entry in document["signatures"]),
        codes=document["codes"],
        names_process=tuple(re.compile(p) for p in document["names_process"]),
        benign=tuple(document["benign"]),
    )


def signature_of(entry: Mapping[str, Any], prefixes: Mapping[str, str]) -> Signature:
    """A signature as a catalogue's file has it. ``prefixes`` are what may stand before a pattern, by name."""
    return Signature(
        id=entry["id"],
        what=entry["what"],
        fault_class=entry["class"],
        severity=entry["severity"],
        counts=entry.get("counts", False),
        pattern=re.compile(
            prefixes[entry["after"]] + entry["pattern"] if "after" in entry else entry["pattern"]
        ),
        examples=tuple(entry["examples"]),
    )
