"""What is measured of an exchange: one definition a quantity, for thresholds, judging and reports alike.

No I/O. How each is worked out is in `soakproof.columns.measured`, which is loaded only when something is to
be measured: what merely writes a run down, or asks which metrics there are, needs no numpy.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from typing import Literal

from soakproof.records import Exchange

Better = Literal["higher", "lower"]

MIN_GENERATED = 8  # tokens; a rate over fewer says more about the clock than about the server
MIN_PROMPT = 64  # tokens processed, cached ones not counted
MIN_MS = 1.0
TOKENS_AN_EVENT = 8  # more on average, and somebody buffers the stream
FASTEST_STREAM = 5_000  # tokens/s on our clock; beyond it a buffer was emptied, nothing was generated


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity of one exchange."""

    name: str
    unit: str
    better: Better | None
    describe: str
    leaves_out: str


_ALL = (
    Metric(
        "generation_rate",
        "tokens/s",
        "higher",
        "Tokens generated a second: the server's count over its own time, else tokens after the first over "
        "the time from the first token to the last on our clock.",
        f"cancelled answers, fewer than {MIN_GENERATED} tokens, and buffered delivery where only our clock "
        "could tell",
    ),
    Metric(
        "prompt_rate",
        "tokens/s",
        "higher",
        "Prompt tokens processed a second, those restored from a cache not counted.",
        f"prompts with fewer than {MIN_PROMPT} tokens to process, and servers that send no timings",
    ),
    Metric(
        "first_token_time",
        "s",
        "lower",
        "From when the request was due to its first token of any kind, reasoning included.",
        "answers that are not streamed",
    ),
    Metric(
        "first_content_time",
        "s",
        "lower",
        "From when the request was due to the first token of the answer itself, after any reasoning.",
        "answers that are not streamed, and those with reasoning alone",
    ),
    Metric(
        "total_time",
        "s",
        "lower",
        "From when the request was due to the end of its answer.",
        "cancelled answers, and requests that were refused as planned",
    ),
    Metric(
        "widest_gap",
        "s",
        "lower",
        "The longest wait between two tokens of one answer.",
        "answers of fewer than two token events, and buffered delivery",
    ),
    Metric(
        "send_delay",
        "s",
        "lower",
        "From when a request was due to when it was sent: connecting, and the tester's own lateness.",
        "nothing",
    ),
    Metric(
        "cached_tokens",
        "tokens",
        None,
        "Prompt tokens that the server says it restored from a cache.",
        "servers that do not say",
    ),
    Metric(
        "prompt_tokens",
        "tokens",
        None,
        "Tokens of the prompt, those restored from a cache included.",
        "answers without usage",
    ),
    Metric(
        "completion_tokens",
        "tokens",
        None,
        "Tokens of the answer, reasoning included.",
        "answers without usage, such as cancelled ones",
    ),
)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def measure(name: str, exchanges: Iterable[Exchange]) -> list[tuple[str, float]]:
    """(exchange id, value) of every exchange that the metric can be told of, in their order.

    Raises ``ValueError`` for a name that no metric has.
    """
    if name not in METRICS:
        raise ValueError(f"no metric is called {name!r}; there are: {', '.join(METRICS)}")
    from soakproof.columns import Table

    table = Table(Exchange, tuple(exchanges))
    found = table.metric(name).tolist()
    return [(id, value) for id, value in zip(table["id"].tolist(), found, strict=True) if not isnan(value)]


def values(name: str, exchanges: Iterable[Exchange]) -> list[float]:
    """The same without the ids."""
    return [value for _, value in measure(name, exchanges)]


def value(name: str, exchange: Exchange) -> float | None:
    """What the metric says of one exchange; None where it cannot be told."""
    return next(iter(values(name, [exchange])), None)
