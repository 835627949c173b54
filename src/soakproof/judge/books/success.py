"""Exchanges against themselves: an outcome, and the status, ending and text that it must rest on. No I/O."""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from soakproof.columns import Table
from soakproof.judge.books.disagreement import Disagreement, in_turn
from soakproof.records import REFUSALS, Exchange

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_MOST = 2**40  # tokens, pieces and bytes of one answer
_EXACT = 2.0**53  # up to which a float tells every whole number apart
_COUNTS = (
    *("max_tokens", "prompt_chars", "token_events", "pings", "empty_events", "parse_errors"),
    *("leftover_bytes", "prompt_tokens", "completion_tokens", "cached_tokens", "widest_gap_at"),
)


def success(evidence: "Evidence") -> Iterator[Disagreement]:
    """What is called ok has what makes it so, and each text is the one whose digest was kept."""
    table = evidence.exchange_table
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for place, exchange in _those(table, _may_be_not_ok(table)):
        if why := _not_ok(exchange):
            found[f"called ok {why}"].append((place, exchange.id))
    for what, wrong in (
        ("with another text than the digest is of", table.fact("digest") != table["text_digest"]),
        ("with a count that cannot be", _miscounted(table)),
        ("cancelled when not under way", _cancelled_elsewhen(table)),
    ):
        places = np.flatnonzero(wrong)
        found[what] += zip(places.tolist(), table["id"][places].tolist(), strict=True)
    yield from in_turn("answers", found)


def _those(table: Table[Exchange], mask: NDArray[np.bool_]) -> Iterator[tuple[int, Exchange]]:
    """The exchanges of a mask, each with its place."""
    return zip(np.flatnonzero(mask).tolist(), table.where(mask).records, strict=True)


def _miscounted(table: Table[Exchange]) -> NDArray[np.bool_]:
    wrong = np.zeros(len(table), bool)
    for name in _COUNTS:
        wrong |= (table[name] < 0) | (table[name] > _MOST)
    return wrong


def _cancelled_elsewhen(table: Table[Exchange]) -> NDArray[np.bool_]:
    """Which were cancelled by the tester before they were sent or after their end, or ended before they were
    sent.
    """
    sent, done, cancelled = table["sent_ns"], table["done_ns"], table["cancelled_ns"]
    wrong = np.where(np.isnan(cancelled), sent > done, (cancelled < sent) | (cancelled > done))
    for place, exchange in _those(table, np.abs(cancelled) >= _EXACT):
        wrong[place] = not exchange.sent_ns <= (exchange.cancelled_ns or 0) <= exchange.done_ns
    return np.asarray(wrong, bool)


def _may_be_not_ok(table: Table[Exchange]) -> NDArray[np.bool_]:
    """Which are called ok and have not all that most answers have: `_not_ok` says of each."""
    status, is_cancelled = table["status"], ~np.isnan(table["cancelled_ns"])
    failed, is_finished = table.is_told("failure"), table.is_told("finish_reason")
    answered = (status >= 200) & (status < 300) & (is_finished | is_cancelled)
    never_began = is_cancelled & np.isnan(status)
    return np.asarray((table["outcome"] == "ok") & (failed | ~(answered | never_began)), bool)


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
