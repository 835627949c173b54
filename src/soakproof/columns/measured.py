"""What `soakproof.metrics` names, of all exchanges of a table at once; NaN where it cannot be told. No I/O.

Tokens come from `usage` and `timings`, never from counting chunks; a server's own *_per_second is never
believed (it is null, infinite or absurd for short answers).
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import MOST
from soakproof.clock import NS
from soakproof.metrics import FASTEST_STREAM, MIN_GENERATED, MIN_MS, MIN_PROMPT, TOKENS_AN_EVENT
from soakproof.reading.oddities import split

if TYPE_CHECKING:
    from soakproof.columns import Table
    from soakproof.records import Exchange

Floats = NDArray[np.float64]
Exchanges: TypeAlias = "Table[Exchange]"


def measured(name: str, exchanges: Exchanges) -> Floats:
    """What a metric says of each exchange, in the metric's unit. Only what succeeded is measured: a failure
    is counted as one and never mixed into a latency.
    """
    return np.where(exchanges["outcome"] == "ok", _MEASURES[name](exchanges), np.nan)


def of_kind(name: str, exchanges: Exchanges, kind: str) -> list[float]:
    """The metric's values of one kind's exchanges, where it can be told."""
    found = exchanges.where(exchanges["scenario"] == kind).metric(name)
    return list(found[~np.isnan(found)].tolist())


def streamed_rate(exchanges: Exchanges) -> Floats:
    """Tokens after the first over the time from the first to the last, on our clock, in tokens/s."""
    tokens = _amount(exchanges["completion_tokens"])
    span = _since(exchanges["first_token_ns"], exchanges["last_token_ns"])
    in_pieces = exchanges["token_events"].astype(np.float64) * TOKENS_AN_EVENT >= tokens
    is_told = exchanges["stream"] & (tokens >= MIN_GENERATED) & (span > 0) & in_pieces & ~_buffered(exchanges)
    rate = np.divide(tokens - 1, span, out=np.full(len(exchanges), np.nan), where=is_told)
    return np.where(rate <= FASTEST_STREAM, rate, np.nan)


def _generation_rate(exchanges: Exchanges) -> Floats:
    by_server = _rate(exchanges, "predicted", MIN_GENERATED)
    rate = np.where(np.isnan(by_server), streamed_rate(exchanges), by_server)
    return np.where(np.isnan(exchanges["cancelled_ns"]), rate, np.nan)


def _rate(exchanges: Exchanges, part: str, least: int) -> Floats:
    """``part``_n over ``part``_ms, in tokens/s, where both are large enough to mean something."""
    tokens, milliseconds = exchanges.timing(f"{part}_n"), exchanges.timing(f"{part}_ms")
    is_told = (tokens >= least) & (milliseconds >= MIN_MS)
    found: Floats = np.divide(tokens, milliseconds, out=np.full(len(exchanges), np.nan), where=is_told)
    return found * 1000


def _since(start: NDArray[Any], end: NDArray[Any]) -> Floats:
    """Seconds from one time to another; NaN when either is unknown or they are in the wrong order."""
    return np.where(end >= start, (end - start) / NS, np.nan)


def _streamed_since(exchanges: Exchanges, end: str) -> Floats:
    return np.where(exchanges["stream"], _since(exchanges["due_ns"], exchanges[end]), np.nan)


def _total_time(exchanges: Exchanges) -> Floats:
    return np.where(exchanges.whole, _since(exchanges["due_ns"], exchanges["done_ns"]), np.nan)


def _widest_gap(exchanges: Exchanges) -> Floats:
    gap = exchanges["widest_gap_ns"]
    return np.where((gap >= 0) & ~_buffered(exchanges), gap / NS, np.nan)


def _buffered(exchanges: Exchanges) -> NDArray[np.bool_]:
    """Whose tokens were held back and let go at once: when they came says nothing of when they were made."""
    notes = exchanges["notes"].tolist()
    return np.array([any(split(note)[0] == "buffered" for note in of) for of in notes], bool)


def _amount(told: Floats) -> Floats:
    """A column's numbers of tokens, where they can be such."""
    return np.where((told >= 0) & (told <= MOST), told, np.nan)


_MEASURES: Mapping[str, Callable[[Exchanges], Floats]] = {
    "generation_rate": _generation_rate,
    "prompt_rate": lambda e: _rate(e, "prompt", MIN_PROMPT),
    "first_token_time": lambda e: _streamed_since(e, "first_token_ns"),
    "first_content_time": lambda e: _streamed_since(e, "first_content_ns"),
    "total_time": _total_time,
    "widest_gap": _widest_gap,
    "send_delay": lambda e: _since(e["due_ns"], e["sent_ns"]),
    "cached_tokens": lambda e: _amount(e["cached_tokens"]),
    "prompt_tokens": lambda e: _amount(e["prompt_tokens"]),
    "completion_tokens": lambda e: _amount(e["completion_tokens"]),
}
