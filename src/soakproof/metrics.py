"""What is measured of an exchange: one definition a quantity, for thresholds, judging and reports alike.

No I/O. A metric is None where it cannot be told. Only exchanges that succeeded are measured: a failure is
counted as one and never mixed into a latency. Tokens come from `usage` and `timings`, never from counting
chunks; a server's own *_per_second is never believed (it is null, infinite or absurd for short answers).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from soakproof.amounts import amount
from soakproof.clock import NS
from soakproof.reading.oddities import split
from soakproof.records import Exchange

Better = Literal["higher", "lower"]

MIN_GENERATED = 8  # tokens; a rate over fewer says more about the clock than about the server
MIN_PROMPT = 64  # tokens processed, cached ones not counted
MIN_MS = 1.0
TOKENS_AN_EVENT = 8  # more on average, and somebody buffers the stream
FASTEST_STREAM = 5_000  # tokens/s on our clock; beyond it a buffer was emptied, nothing was generated


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity of one exchange. ``of`` gives it in ``unit``, or None where it cannot be told."""

    name: str
    unit: str
    better: Better | None
    describe: str
    leaves_out: str
    of: Callable[[Exchange], float | None]


def _timing(exchange: Exchange, name: str) -> float | None:
    timings = exchange.timings
    return amount(timings.get(name)) if isinstance(timings, dict) else None


def _rate(exchange: Exchange, part: str, least: int) -> float | None:
    """``part``_n over ``part``_ms, in tokens/s, where both are large enough to mean something."""
    tokens, milliseconds = _timing(exchange, f"{part}_n"), _timing(exchange, f"{part}_ms")
    if tokens is None or milliseconds is None or tokens < least or milliseconds < MIN_MS:
        return None
    return tokens / milliseconds * 1000


def _generation_rate(exchange: Exchange) -> float | None:
    if exchange.cancelled_ns is not None:
        return None
    by_server = _rate(exchange, "predicted", MIN_GENERATED)
    return by_server if by_server is not None else streamed_rate(exchange)


def streamed_rate(exchange: Exchange) -> float | None:
    """Tokens after the first over the time from the first to the last, on our clock, in tokens/s."""
    tokens = amount(exchange.completion_tokens)
    span = _since(exchange.first_token_ns, exchange.last_token_ns)
    if not exchange.stream or tokens is None or tokens < MIN_GENERATED or not span or _buffered(exchange):
        return None
    if exchange.token_events * TOKENS_AN_EVENT < tokens:
        return None
    rate = (tokens - 1) / span
    return rate if rate <= FASTEST_STREAM else None


def _prompt_rate(exchange: Exchange) -> float | None:
    return _rate(exchange, "prompt", MIN_PROMPT)


def _since(start: int | None, end: int | None) -> float | None:
    """Seconds from one time to another; None when either is unknown or they are in the wrong order."""
    if start is None or end is None or end < start:
        return None
    return (end - start) / NS


def _first_token_time(exchange: Exchange) -> float | None:
    return _since(exchange.due_ns, exchange.first_token_ns) if exchange.stream else None


def _first_content_time(exchange: Exchange) -> float | None:
    return _since(exchange.due_ns, exchange.first_content_ns) if exchange.stream else None


def _total_time(exchange: Exchange) -> float | None:
    if exchange.cancelled_ns is not None or exchange.failure is not None:
        return None
    return _since(exchange.due_ns, exchange.done_ns)


def _widest_gap(exchange: Exchange) -> float | None:
    gap = exchange.widest_gap_ns
    return None if gap is None or gap < 0 or _buffered(exchange) else gap / NS


def _buffered(exchange: Exchange) -> bool:
    """Its tokens were held back and let go at once: when they arrived says nothing of when they were made."""
    return any(split(note)[0] == "buffered" for note in exchange.notes)


def _of_success(of: Callable[[Exchange], float | None]) -> Callable[[Exchange], float | None]:
    return lambda exchange: of(exchange) if exchange.outcome == "ok" else None


_ALL = (
    Metric(
        "generation_rate",
        "tokens/s",
        "higher",
        "Tokens generated a second: the server's count over its own time, else tokens after the first over "
        "the time from the first token to the last on our clock.",
        f"cancelled answers, fewer than {MIN_GENERATED} tokens, and buffered delivery where only our clock "
        "could tell",
        _of_success(_generation_rate),
    ),
    Metric(
        "prompt_rate",
        "tokens/s",
        "higher",
        "Prompt tokens processed a second, those restored from a cache not counted.",
        f"prompts with fewer than {MIN_PROMPT} tokens to process, and servers that send no timings",
        _of_success(_prompt_rate),
    ),
    Metric(
        "first_token_time",
        "s",
        "lower",
        "From when the request was due to its first token of any kind, reasoning included.",
        "answers that are not streamed",
        _of_success(_first_token_time),
    ),
    Metric(
        "first_content_time",
        "s",
        "lower",
        "From when the request was due to the first token of the answer itself, after any reasoning.",
        "answers that are not streamed, and those with reasoning alone",
        _of_success(_first_content_time),
    ),
    Metric(
        "total_time",
        "s",
        "lower",
        "From when the request was due to the end of its answer.",
        "cancelled answers, and requests that were refused as planned",
        _of_success(_total_time),
    ),
    Metric(
        "widest_gap",
        "s",
        "lower",
        "The longest wait between two tokens of one answer.",
        "answers of fewer than two token events, and buffered delivery",
        _of_success(_widest_gap),
    ),
    Metric(
        "send_delay",
        "s",
        "lower",
        "From when a request was due to when it was sent: connecting, and the tester's own lateness.",
        "nothing",
        _of_success(lambda e: _since(e.due_ns, e.sent_ns)),
    ),
    Metric(
        "cached_tokens",
        "tokens",
        None,
        "Prompt tokens that the server says it restored from a cache.",
        "servers that do not say",
        _of_success(lambda e: amount(e.cached_tokens)),
    ),
    Metric(
        "prompt_tokens",
        "tokens",
        None,
        "Tokens of the prompt, those restored from a cache included.",
        "answers without usage",
        _of_success(lambda e: amount(e.prompt_tokens)),
    ),
    Metric(
        "completion_tokens",
        "tokens",
        None,
        "Tokens of the answer, reasoning included.",
        "answers without usage, such as cancelled ones",
        _of_success(lambda e: amount(e.completion_tokens)),
    ),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def measure(name: str, exchanges: Iterable[Exchange]) -> list[tuple[str, float]]:
    """(exchange id, value) of every exchange that the metric can be told of, in their order.

    Raises ``ValueError`` for a name that no metric has.
    """
    if name not in METRICS:
        raise ValueError(f"no metric is called {name!r}; there are: {', '.join(METRICS)}")
    of = METRICS[name].of
    return [(e.id, value) for e in exchanges if (value := of(e)) is not None]


def values(name: str, exchanges: Iterable[Exchange]) -> list[float]:
    """The same without the ids."""
    return [value for _, value in measure(name, exchanges)]
