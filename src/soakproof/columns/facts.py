"""What judging asks of an answer's words: functions of one exchange, each asked once. Pure; no I/O.

A day of answers is hundreds of MiB of words. Whoever judges asks these of a table, `table.fact("codes")`, and
reads the words themselves of the few answers that they lead to. A fact is small: a number, true or false, or
a value that most answers share, such as an empty set.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from soakproof.context import all_said, disguised, nonces
from soakproof.records import Exchange

LONG_CHARS = 300
LONG_WORDS = 30  # different ones: what goes round in circles may come twice
_HELD_BACK = "<>[]{}|`"  # by a server, in case that they begin a tool call or reasoning


def _digest(exchange: Exchange) -> str:
    """The digest of the text as it is, whatever digest was kept: equal texts have equal ones."""
    text = exchange.text.encode("utf-8", "replace")
    digest = hashlib.sha256(text).hexdigest() if text else ""
    return exchange.text_digest if exchange.text_digest == digest else digest  # as one object


def _opening(exchange: Exchange) -> str:
    """What tells the beginning of a long text of many words from others; empty for every other text."""
    begin = exchange.text[:LONG_CHARS]
    if len(begin) < LONG_CHARS or len(set(begin.split())) < LONG_WORDS:
        return ""
    return hashlib.sha256(begin.encode("utf-8", "replace")).hexdigest()[:16]


def _is_plain(exchange: Exchange) -> bool:
    """Whether each of its tokens should have come as an event of plain text."""
    if exchange.reasoning or exchange.tool_calls:
        return False
    return not any(mark in exchange.text for mark in _HELD_BACK)


def _more_bytes(exchange: Exchange) -> int:
    """How many bytes the text has beyond its characters."""
    text = exchange.text
    return 0 if text.isascii() else len(text.encode("utf-8", "replace")) - len(text)


def _tells_cached(exchange: Exchange) -> bool:
    details = (exchange.usage or {}).get("prompt_tokens_details")
    return isinstance(details, Mapping) and details.get("cached_tokens") is not None


FACTS: Mapping[str, Callable[[Exchange], Any]] = {
    "said": lambda e: bool(e.text or e.reasoning or e.tool_calls or e.text_after_done),
    "has_text": lambda e: bool(e.text),
    "codes": lambda e: disguised(all_said(e)),
    "nonces": lambda e: nonces(all_said(e)).difference(e.secrets),  # but for its own
    "digest": _digest,
    "opening": _opening,
    "text_chars": lambda e: len(e.text),
    "reasoning_chars": lambda e: len(e.reasoning),
    "more_bytes": _more_bytes,
    "is_plain": _is_plain,
    "may_have_marks": lambda e: "<|" in e.text or "_of_turn>" in e.text,  # of chat templates
    "has_usage": lambda e: bool(e.usage),
    "has_timings": lambda e: bool(e.timings),
    "tells_times": lambda e: "predicted_ms" in (e.timings or {}),
    "tells_cached": _tells_cached,
}
