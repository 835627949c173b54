"""How deep a document may be nested that a server sent, or that somebody may have edited. Pure; no I/O.

What is done with a document goes down into it level by level, and Python ends where that goes too far down;
JSON and TOML have no such end.
"""

from typing import Any, TypeVar

LEVELS = 64  # of objects and lists in each other; the documents of servers and our own have a handful

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
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(LEVELS):
        if not level:
            return False
        level = [item for part in level for item in _items(part) if isinstance(item, (dict, list))]
    return bool(level)


def may_be_deep(json: bytes) -> bool:
    """Whether it has brackets enough for more than `LEVELS` levels; whether they stand in each other is for
    `is_too_deep`.
    """
    return json.count(b"{") + json.count(b"[") > LEVELS


def _items(part: Any) -> Any:
    return part.values() if isinstance(part, dict) else part
