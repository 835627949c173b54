"""JSON as servers really write it: strict first, then with what common libraries let through. No I/O."""

import json
import re
from typing import Any

import orjson

MAX_REPAIRED = 2**20  # characters; the repair calls back for each string in them
# A string, so that nothing inside one is touched (its closing quote is optional: without that, a text of
# escaped quotes costs quadratic time); or what C's printf writes for a number that is none.
_STRING_OR_NAME = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|(?<![\w.])(?:-?nan(?:\(\w*\))?|inf(?:inity)?)(?!\w)',
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile("nan|inf", re.IGNORECASE)


def parse(text: str) -> tuple[Any, bool]:
    """The value, and whether it was JSON to the letter. Raises ValueError.

    Let through, because their meaning is plain: NaN and infinities (``nan`` and ``inf`` too), numbers
    that no double can hold, and halves of a surrogate pair.
    """
    try:
        return orjson.loads(text), True
    except orjson.JSONDecodeError:
        pass
    try:
        return _loose(text), False
    except RecursionError:
        raise ValueError("nested too deep") from None


def _loose(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        if len(text) > MAX_REPAIRED or not _NAME.search(text):
            raise
        return json.loads(_STRING_OR_NAME.sub(_named, text))


def _named(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith('"'):
        return found
    return "Infinity" if found.lower().startswith("inf") else "NaN"
