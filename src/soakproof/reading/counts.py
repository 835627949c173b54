"""Token counts from ``usage`` and ``timings``: the server's own numbers, where they can be numbers. No I/O.

Never a count of chunks: speculative decoding puts several tokens into one chunk.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.reading.notes import Notes

ABSURD = 100_000_000  # tokens; no context is near it
MAX_RAW_CHARS = 16 * 1024
MAX_RAW_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens of one exchange; None where the server gave no believable number."""

    prompt: int | None
    completion: int | None
    cached: int | None


def counts(usage: Mapping[str, Any] | None, timings: Mapping[str, Any] | None, notes: Notes) -> Counts:
    """From usage, else from llama.cpp's timings, whose prompt_n has only the tokens not cached."""
    usage, timings = usage or {}, timings or {}
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, Mapping) else {}
    cache_n = _count(timings, "cache_n", "timings", notes)
    prompt_n = _count(timings, "prompt_n", "timings", notes)
    worked = cache_n + prompt_n if cache_n is not None and prompt_n is not None else None
    made = Counts(
        _count(usage, "prompt_tokens", "usage", notes),
        _count(usage, "completion_tokens", "usage", notes),
        _count(details, "cached_tokens", "usage", notes),
    )
    if made.prompt is not None and worked is not None and made.prompt != worked:
        notes.add("prompt_counts_disagree", f"usage {made.prompt}, timings {worked}")
    if made.cached is not None and cache_n is not None and made.cached != cache_n:
        notes.add("cached_counts_disagree", f"usage {made.cached}, timings {cache_n}")
    predicted = _count(timings, "predicted_n", "timings", notes)
    return Counts(
        worked if made.prompt is None else made.prompt,
        predicted if made.completion is None else made.completion,
        cache_n if made.cached is None else made.cached,
    )


def _count(table: Mapping[str, Any], key: str, where: str, notes: Notes) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    number = value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        notes.add("count_as_text", f"{where}.{key}")
        number = int(value)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        number = -1
    if 0 <= number <= ABSURD and number == int(number):
        return int(number)
    notes.add("bad_count", f"{where}.{key} = {_shown(value)}")
    return None


def _shown(value: Any) -> str:
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"an integer of {value.bit_length()} bits"
    return str(value)[:40] if isinstance(value, (str, int, float)) else type(value).__name__


def milliseconds(timings: Mapping[str, Any] | None, key: str) -> float | None:
    """A duration of timings in ms, where it is a number above 0."""
    value = (timings or {}).get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e12:
        return None
    return float(value)


def raw(value: dict[str, Any] | None, name: str, notes: Notes) -> dict[str, Any] | None:
    """The object as it was sent, unless it is too large or too deep to be kept in a record."""
    if value is None:
        return None
    if _depth_within(value, MAX_RAW_DEPTH):
        try:
            if len(json.dumps(value)) <= MAX_RAW_CHARS:
                return value
        except ValueError:  # an integer of more digits than Python prints
            pass
    notes.add(f"{name}_not_kept", "too large or too deep")
    return None


def _depth_within(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        return levels > 0 and all(_depth_within(v, levels - 1) for v in value.values())
    if isinstance(value, list):
        return levels > 0 and all(_depth_within(v, levels - 1) for v in value)
    return True
