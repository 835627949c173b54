"""Formats: which version of a document this program reads. Pure; no I/O.

The document of a later version may mean something else by the same names, so it is refused, not guessed at.
One that names no format is of an early version, and is read.
"""

import reprlib
from collections.abc import Mapping
from typing import Any

from soakproof.plain import plain

FORMAT = 1  # of run.json, raw.json, a baseline, a bundle's manifest and a seal
UPDATE = "update soakproof, and try again"


class NewerError(ValueError):
    """What was read has a format that this version does not know."""


def newer(document: Any, known: int = FORMAT) -> str:
    """How a document's format is beyond the ``known`` one, in words; "" where this version reads it."""
    found = document.get("format", known) if isinstance(document, Mapping) else known
    if type(found) is int and 0 <= found <= known:
        return ""
    return newer_than(plain(reprlib.repr(found), 40), known)


def newer_than(found: str, known: int = FORMAT) -> str:
    """The words for a format that this version does not know."""
    return f"written by a newer soakproof: format {found}; this version reads up to {known}"


def refuse_newer(document: Any, known: int = FORMAT) -> None:
    """Raises NewerError for a document of a format that this version does not know."""
    if told := newer(document, known):
        raise NewerError(told)
