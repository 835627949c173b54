"""What of a value is kept: numbers, names that a plan or this program gave, single words of a server. No I/O.

Each rule does nothing more to what it has been applied to.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from soakproof.context import nonces
from soakproof.redaction import REMOVED

_WORD = re.compile(r"[^\s\"'<>{}\[\]]{1,300}")
_LABEL = re.compile(r"[a-z0-9_.:-]{1,60}")
_NOTE = re.compile(r"([a-z_]+)(: .*)?", re.DOTALL)
_KEY = re.compile(r"[a-zA-Z_][\w.:/-]{0,99}")

Rule = Callable[[Any], Any]


def whole(value: Any) -> Any:
    """All of it."""
    return value


def named(value: Any) -> Any:
    """A text or a list of texts, which this program or a plan gave; of anything deeper no text."""
    if isinstance(value, list):
        return [item if isinstance(item, str) else text(item) for item in value]
    return value if isinstance(value, str) else text(value)


def text(value: Any) -> Any:
    """No text; but numbers, and how many items there were."""
    if isinstance(value, str):
        return REMOVED if value else value
    return _inside(value, text)


def words(value: Any) -> Any:
    """Numbers, and texts of a single word that has not the form of a secret."""
    if isinstance(value, str):
        return value if value in ("", REMOVED) or _is_word(value) else REMOVED
    return _inside(value, words)


def label(value: Any) -> Any:
    """What something is called, in three words at most, such as "source memory"."""
    parts = value.split(" ", 3) if isinstance(value, str) else ()
    return value if 0 < len(parts) <= 3 and all(map(_LABEL.fullmatch, parts)) else words(value)


def notes(value: Any) -> Any:
    """The names of oddities of the protocol, without what the server sent."""
    if not isinstance(value, list):
        return text(value)
    return [_note(str(note)) for note in value]


@lru_cache(maxsize=4096)
def is_key(key: str) -> bool:
    """Whether a key of an object is a name, and not rather what somebody said."""
    return bool(_KEY.fullmatch(key)) and not nonces(key)


def rules(**fields: str) -> dict[str, Rule]:
    """Fields, divided by spaces, to the rule of that name."""
    ways = {way.__name__: way for way in (whole, named, words, label, notes, text)}
    return {field: ways[way] for way, these in fields.items() for field in these.split()}


def _inside(value: Any, rule: Rule) -> Any:
    if isinstance(value, list):
        return [rule(item) for item in value]
    if isinstance(value, dict):
        return {key: rule(item) for key, item in value.items() if is_key(key)}
    return value


def _note(note: str) -> str:
    found = _NOTE.fullmatch(note)
    if found is None:
        return REMOVED
    return f"{found[1]}: {REMOVED}" if found[2] else found[1]


@lru_cache(maxsize=4096)
def _is_word(value: str) -> bool:
    return bool(_WORD.fullmatch(value)) and value.isprintable() and not nonces(value)
