"""How deep a document may be nested that a server sent, or that somebody may have edited. Pure; no I/O.

What is done with a document goes down into it level by level, and Python ends where that goes too far down;
JSON and TOML have no such end.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

LEVELS = 64  # of objects and lists in each other; the documents of servers and our own have a handful

_NESTING = frozenset((dict, list))

T = TypeVar("T")


class TooDeepError(ValueError):
    """A document that is nested too deep to be read."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {LEVELS} levels")


def bounded(document: T) -> T:
    """The document as it is. Raises TooDeepError for one that goes down further than `LEVELS`."""
    if is_too_deep(document):
        raise TooDeepError
    return document


def is_too_deep(value: Any) -> bool:
    """Whether objects and lists stand in each other on more than `LEVELS` levels. It goes down by no call."""
    level = [value] if type(value) in _NESTING else []
    for _ in range(LEVELS):
        if not level:
            return False
        level = [item for part in level for item in _nested(part)]
    return bool(level)


def _nested(part: Any) -> Sequence[Any]:
    """The objects and lists in one."""
    items = part.values() if isinstance(part, dict) else part
    if _NESTING.isdisjoint(map(type, items)):  # as most are
        return ()
    return [item for item in items if type(item) in _NESTING]
