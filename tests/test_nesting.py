"""Depth of documents: bounded where they are read, told without going down into them."""

import json
from typing import Any

import pytest

from soakproof.nesting import LEVELS, TooDeepError, bounded, is_too_deep


def nested(levels: int, innermost: Any = 1) -> Any:
    """Objects and lists in each other, by turns."""
    value = innermost
    for n in range(levels):
        value = {"x": value} if n % 2 else [value]
    return value


@pytest.mark.parametrize("innermost", [1, "x", None, {}])
def test_up_to_the_bound_a_document_is_as_it_was(innermost: Any) -> None:
    levels = LEVELS - isinstance(innermost, dict)
    kept = nested(levels, innermost)
    assert bounded(kept) is kept
    with pytest.raises(TooDeepError, match=f"^nested deeper than {LEVELS} levels$"):
        bounded(nested(levels + 1, innermost))


def test_it_is_told_of_any_depth() -> None:
    assert is_too_deep(nested(100_000))
    assert is_too_deep({"wide": [0] * 1000, "deep": nested(LEVELS)})


def test_what_is_not_nested() -> None:
    for value in (None, 1, "[[[", {}, [], json.loads("[1, {}]")):
        assert bounded(value) is value
