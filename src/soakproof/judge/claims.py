"""What a server claims of its own work, against what else is known: one exchange's numbers. Pure; no I/O.

Each finder takes an exchange that was answered as a whole and gives the oddities in it, by their names in
`soakproof.reading.oddities`, each with a detail.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import MOST, amount
from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.metrics import MIN_GENERATED, MIN_PROMPT
from soakproof.reading.oddities import ODDITIES, UNKNOWN, Oddity, split
from soakproof.records import Exchange, Failure

FASTEST_GENERATED = 1e5  # tokens/s; no machine that serves one model comes near it
FASTEST_PROMPT = 1e7
SLACK_MS = 1000.0
RATES_DIFFER = 1.5  # times: a rate is computed from the very tokens and time beside it
LEAST_TIMED_MS = 1.0
LEAST_SPREAD_MS = 2000.0  # of a stream, for its times to be set against the server's
EVENTS_SLACK = 2  # pieces of text beyond the tokens: a token may be split where reasoning ends
# Marks of chat templates, which a server turns into ends and roles. No prompt of ours has one.
_TEMPLATE = re.compile(
    r"<\|(?:im_start|im_end|im_sep|endoftext|end_of_text|begin_of_text|eot_id|eom_id|start_header_id"
    r"|end_header_id|start|end|message|channel|return|call|user|assistant|system)\|>|<(?:start|end)_of_turn>"
)
_TIMES = ("prompt_n", "prompt_ms", "predicted_n", "predicted_ms")
_PARTS = (("predicted", MIN_GENERATED, FASTEST_GENERATED), ("prompt", MIN_PROMPT, FASTEST_PROMPT))

Found = Iterator[tuple[str, str]]


def about(name: str) -> Oddity:
    """What is known of an oddity."""
    return ODDITIES.get(name, UNKNOWN)


def oddities(exchange: Exchange) -> dict[str, str]:
    """Name to detail: what its reading noted, and what its numbers give away."""
    found = dict(split(note) for note in exchange.notes)
    for name, detail in (*_ending(exchange), *(_numbers(exchange) if whole(exchange) else ())):
        found.setdefault(name, detail)
    return found


def seen_in(table: Table[Exchange]) -> dict[str, dict[str, str]]:
    """Each oddity's exchanges, by id, each with its detail."""
    seen: dict[str, dict[str, str]] = {}
    for id, notes in zip(table["id"].tolist(), table["notes"].tolist(), strict=True):
        for name, detail in map(split, notes):
            seen.setdefault(name, {}).setdefault(id, detail)
    for place in np.flatnonzero(suspects(table)).tolist():
        exchange = table.records[place]
        for name, detail in oddities(exchange).items():
            seen.setdefault(name, {})[exchange.id] = detail
    return seen


def suspects(table: Table[Exchange]) -> NDArray[np.bool_]:
    """Which exchanges have any oddity that their reading has not noted, and few others: `oddities` says.
    All at once, since most of a day of them have none.
    """
    marked, unended = table.fact("may_have_marks"), table["failure"] == Failure.PROTOCOL
    cut = (table["leftover_bytes"] > 0) & ~table["done_marker"]
    numbers = _odd_usage(table) | _odd_timings(table) | _odd_clock(table)
    return np.asarray(marked | unended | cut | (table.whole & numbers), bool)


def _odd_usage(table: Table[Exchange]) -> NDArray[np.bool_]:
    prompt, completion, total = map(table.usage, ("prompt_tokens", "completion_tokens", "total_tokens"))
    sums = np.isfinite(prompt + completion + total) & (total != prompt + completion)
    predicted = table.timing("predicted_n")
    counts = np.isfinite(completion + predicted) & (completion != predicted)
    cached = table["cached_tokens"] > table["prompt_tokens"]
    fewer = table["token_events"] > 1.05 * table["completion_tokens"] + EVENTS_SLACK
    return np.asarray(sums | counts | cached | fewer, bool)


def _odd_timings(table: Table[Exchange]) -> NDArray[np.bool_]:
    odd = table.fact("has_timings") & np.isnan(sum(map(table.timing, _TIMES), np.zeros(len(table))))
    for part, least, fastest in _PARTS:
        tokens, took = table.timing(f"{part}_n"), table.timing(f"{part}_ms")
        rate = table.timing(f"{part}_per_second")
        with np.errstate(all="ignore"):
            made = tokens * 1000 / took
            differ = (rate < made / RATES_DIFFER) | (rate > made * RATES_DIFFER)
        odd |= (tokens >= least) & ((tokens * 1000 > fastest * took) | ((took >= LEAST_TIMED_MS) & differ))
    return odd


def _odd_clock(table: Table[Exchange]) -> NDArray[np.bool_]:
    predicted, prompt = table.timing("predicted_ms"), np.nan_to_num(table.timing("prompt_ms"))
    elapsed = (table["done_ns"] - table["sent_ns"]) / NS * 1000
    spread = (table["last_token_ns"] - table["first_token_ns"]) / NS * 1000
    over = predicted + prompt > 1.1 * elapsed + SLACK_MS
    under = table["stream"] & (spread > np.maximum(3 * predicted, LEAST_SPREAD_MS))
    return np.asarray((table.timing("predicted_n") >= MIN_GENERATED) & (over | under), bool)


def whole(exchange: Exchange) -> bool:
    """An answer, to its own end: neither cancelled nor refused as planned."""
    return exchange.outcome == "ok" and exchange.failure is None and exchange.cancelled_ns is None


def timing(exchange: Exchange, name: str) -> float | None:
    """A number of timings that is not negative; None for whatever else stands there."""
    return amount((exchange.timings or {}).get(name))


def spread_ms(exchange: Exchange) -> float | None:
    """From the first token to the last, on our clock; None for what is not streamed."""
    if not exchange.stream or exchange.first_token_ns is None or exchange.last_token_ns is None:
        return None
    return (exchange.last_token_ns - exchange.first_token_ns) / NS * 1000


def _ending(exchange: Exchange) -> Found:
    if "<" in exchange.text and (mark := _TEMPLATE.search(exchange.text)):
        yield "template_token", mark[0]
    unfinished = exchange.failure is Failure.PROTOCOL and exchange.finish_reason is None
    if unfinished and exchange.text and not exchange.parse_errors:
        yield "finish_reason_missing", exchange.reason
    if whole(exchange) and exchange.stream and not exchange.done_marker and exchange.leftover_bytes:
        yield "unfinished_event", f"{exchange.leftover_bytes} bytes"


def _numbers(exchange: Exchange) -> Found:
    yield from _usage(exchange)
    yield from _timings(exchange.timings or {})
    yield from _clock(exchange)


def _usage(exchange: Exchange) -> Found:
    usage = exchange.usage or {}
    told = (amount(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens"))
    prompt, completion, total = told
    if prompt is not None and completion is not None and total is not None and total != prompt + completion:
        yield "total_disagrees", f"{prompt:g} + {completion:g} is not {total:g}"
    predicted = timing(exchange, "predicted_n")
    if completion is not None and predicted is not None and completion != predicted:
        yield "completion_counts_disagree", f"usage {completion:g}, timings {predicted:g}"
    if exchange.prompt_tokens is not None and (exchange.cached_tokens or 0) > exchange.prompt_tokens:
        yield "cached_over_prompt", f"{exchange.cached_tokens} of {exchange.prompt_tokens}"
    plain_text = not exchange.reasoning and not exchange.tool_calls
    counted = exchange.completion_tokens
    if plain_text and counted is not None and exchange.token_events > 1.05 * counted + EVENTS_SLACK:
        yield "fewer_tokens_than_events", f"{counted} tokens in {exchange.token_events} events"


def _timings(timings: Mapping[str, Any]) -> Found:
    """llama.cpp's own. A rate of its own is null or absurd for short answers, and is passed over there."""
    negative = [name for name in _TIMES if _below_zero(timings.get(name))]
    broken = [name for name in _TIMES if name in timings and amount(timings[name]) is None]
    if negative:
        yield "timings_absurd", ", ".join(f"{name} {_below(timings[name])}" for name in negative)
    elif broken:
        yield "timings_null", ", ".join(broken)
    for part, least, fastest in _PARTS:
        tokens, took = amount(timings.get(f"{part}_n")), amount(timings.get(f"{part}_ms"))
        if tokens is not None and took is not None and tokens >= least and tokens * 1000 > fastest * took:
            yield "timings_absurd", f"{part}: {tokens:g} tokens in {took:g} ms"
        rate = amount(timings.get(f"{part}_per_second"))
        if tokens is None or took is None or rate is None or tokens < least or took < LEAST_TIMED_MS:
            continue
        made = tokens * 1000 / took
        if not made / RATES_DIFFER <= rate <= made * RATES_DIFFER:
            yield "rates_disagree", f"{part}: {rate:g} tokens/s, and {tokens:g} tokens in {took:g} ms"


def _below_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0


def _below(value: float) -> str:
    """A number below 0 as it is shown: an integer may be too large for a float."""
    return f"{value:g}" if value >= -MOST else f"less than {-MOST:g}"


def _clock(exchange: Exchange) -> Found:
    """The server's times against ours. Its work lies between our sending and the answer's end."""
    predicted, prompt = timing(exchange, "predicted_ms"), timing(exchange, "prompt_ms")
    elapsed = (exchange.done_ns - exchange.sent_ns) / NS * 1000
    if predicted is None or (timing(exchange, "predicted_n") or 0) < MIN_GENERATED:
        return
    claimed = predicted + (prompt or 0)
    if claimed > 1.1 * elapsed + SLACK_MS:
        yield "timings_over_clock", f"{claimed:.0f} ms of work in {elapsed:.0f} ms"
    spread = spread_ms(exchange)
    if spread is not None and spread > max(3 * predicted, LEAST_SPREAD_MS):
        yield "timings_under_clock", f"made in {predicted:.0f} ms, came over {spread:.0f} ms"
