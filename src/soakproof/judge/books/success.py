"""Exchanges against themselves: an outcome, and the status, ending and text that it must rest on. No I/O."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from soakproof.judge.books.disagreement import Disagreement, of_exchanges
from soakproof.records import REFUSALS, Exchange

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_MOST = 2**40  # tokens, pieces and bytes of one answer
_counts = attrgetter(
    *("max_tokens", "prompt_chars", "token_events", "pings", "empty_events", "parse_errors"),
    *("leftover_bytes", "prompt_tokens", "completion_tokens", "cached_tokens", "widest_gap_at"),
)


def success(evidence: "Evidence") -> Iterator[Disagreement]:
    """What is called ok has what makes it so, and each text is the one whose digest was kept."""
    found: dict[str, list[str]] = defaultdict(list)
    for exchange in evidence.exchanges:
        if exchange.outcome == "ok" and (why := _not_ok(exchange)):
            found[f"called ok {why}"].append(exchange.id)
        if exchange.text_digest != _digest(exchange.text):
            found["with another text than the digest is of"].append(exchange.id)
        if not all(0 <= (n or 0) <= _MOST for n in _counts(exchange)):
            found["with a count that cannot be"].append(exchange.id)
        if not exchange.sent_ns <= _ended_ns(exchange) <= exchange.done_ns:
            found["cancelled when not under way"].append(exchange.id)
    for what, those in found.items():
        yield from of_exchanges("answers", those, what)


def _ended_ns(exchange: Exchange) -> int:
    """When the tester cancelled it, else its end."""
    return exchange.done_ns if exchange.cancelled_ns is None else exchange.cancelled_ns


def _not_ok(exchange: Exchange) -> str:
    """What a success cannot have; empty where nothing speaks against it."""
    if exchange.failure is not None:
        planned = exchange.refusal_planned and exchange.failure in REFUSALS
        return "" if planned else f"with the failure {exchange.failure}"
    if exchange.status is not None and not 200 <= exchange.status < 300:
        return f"with status {exchange.status}"
    if exchange.cancelled_ns is None and (exchange.status is None or exchange.finish_reason is None):
        return "without a status" if exchange.status is None else "without a finish reason"
    return ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""
