"""What a server does as a rule, so that the exchange in which it does not is seen. Pure; no I/O."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from statistics import median

import numpy as np

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.judge.claims import timing, whole
from soakproof.judge.evidence import Evidence
from soakproof.judge.lostevents import countable, forced
from soakproof.judge.occupancy import spans
from soakproof.judge.promptcounts import LONG
from soakproof.reading.ending import BUFFERED_MIN_MS, BUFFERED_MIN_TOKENS
from soakproof.records import Exchange

HABIT = 0.5  # of the answers of one sort: what is in so many belongs in each
HIT = 256  # cached tokens: a hit that would save time
COLD_MS = 50.0  # of prompt work: less says nothing of a cache
ROOM = 0.9  # of a slot's context: what has filled less was not cut by it
DENIED = 0.7  # of the cold prompt's time: a hit that takes as long restored nothing
LOOKED_AT = 1000  # denied hits
BESIDE = 0.2  # of a prompt's time: neighbours that were at work on prompts for less did not slow it

Concern = Callable[[Exchange], bool]


def missing(evidence: Evidence) -> dict[str, list[Exchange]]:
    """Answers without usage, timings or cached tokens, of a server that sends them with others of their sort.

    llama.cpp sends usage and timings with each; of another server its own habit tells.
    """
    answers = [e for e in evidence.exchanges if whole(e)]
    llama = bool(evidence.target.get("build")) or evidence.target.get("recipe") == "llamacpp"
    return {
        "usage_missing": _without(answers, lambda e: bool(e.usage), llama),
        "timings_missing": _without(answers, lambda e: "predicted_ms" in (e.timings or {}), llama),
        "cached_missing": _without([e for e in answers if e.usage], _tells_cached, False),
    }


def _without(answers: Iterable[Exchange], has: Concern, always: bool) -> list[Exchange]:
    found: list[Exchange] = []
    sorts: dict[bool, list[Exchange]] = {}
    for answer in answers:
        sorts.setdefault(answer.stream, []).append(answer)
    for sort in sorts.values():
        lacking = [e for e in sort if not has(e)]
        if always or len(sort) - len(lacking) >= HABIT * len(sort):
            found += lacking
    return found


def _tells_cached(exchange: Exchange) -> bool:
    details = (exchange.usage or {}).get("prompt_tokens_details")
    return isinstance(details, Mapping) and details.get("cached_tokens") is not None


def claims_hit(exchange: Exchange) -> bool:
    """Whether the server says that most of a long prompt was restored, and how long the rest took."""
    cached, prompt = exchange.cached_tokens or 0, exchange.prompt_tokens or 0
    return (
        whole(exchange)
        and cached >= HIT
        and cached >= 4 * (prompt - cached)
        and timing(exchange, "prompt_ms") is not None
    )


def denied_hits(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """Claimed hits whose prompts took as long as cold ones of this run, token for token.

    Neighbours slow single prompts, so one denied hit proves nothing: see the oddity's share.
    """
    cold = [e for e in exchanges if whole(e) and (timing(e, "prompt_n") or 0) >= HIT and not claims_hit(e)]
    rates = [(timing(e, "prompt_ms") or 0) / (timing(e, "prompt_n") or 1) for e in cold]
    if not rates or not (a_token := median(rates)):
        return []
    return [e for e in exchanges if claims_hit(e) and _as_long_as_cold(e, a_token)]


def denied_alone(evidence: Evidence, denied: Sequence[Exchange]) -> list[Exchange]:
    """Those of the denied hits that no neighbour's prompt slowed; of very many the first are looked at."""
    if not denied:
        return []
    all_of = spans(evidence)
    found = []
    for hit in denied[:LOOKED_AT]:
        until = hit.done_ns if hit.first_token_ns is None else hit.first_token_ns
        there = np.flatnonzero((all_of.start_ns < until) & (all_of.end_ns > hit.sent_ns))
        others = np.array([n for n in there if all_of.requests[n].id != hit.id], np.int64)
        beside_ms = all_of.blocks_ns(others, hit.sent_ns, until).sum() / NS * 1000
        if beside_ms <= BESIDE * (timing(hit, "prompt_ms") or 0):
            found.append(hit)
    return found


def _as_long_as_cold(exchange: Exchange, ms_a_token: float) -> bool:
    due = ms_a_token * (exchange.prompt_tokens or 0)
    return due >= COLD_MS and (timing(exchange, "prompt_ms") or 0) >= DENIED * due


def early_length(evidence: Evidence) -> dict[str, str]:
    """Answers that are told to be cut and are below every limit: max_tokens, the slot's context, and what the
    server has made of other answers, in case that it has a limit of its own. By id, each with a detail.
    """
    answers = [e for e in evidence.exchanges if whole(e) and e.completion_tokens is not None]
    most = max((e.completion_tokens or 0 for e in answers), default=0)
    context = number((evidence.run.get("around") or {}).get("slot_context"))
    return {
        e.id: f"{e.completion_tokens} of {e.max_tokens} tokens"
        for e in answers
        if e.finish_reason == "length"
        and (e.completion_tokens or 0) < min(most, e.max_tokens)
        and context is not None
        and e.prompt_tokens is not None
        and e.prompt_tokens + (e.completion_tokens or 0) < ROOM * context
    }


def spelled_otherwise(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """Answers whose finish reason differs from the commoner one of others in capitals alone. By id, each with
    a detail.
    """
    reasons = [(e.id, e.finish_reason) for e in exchanges if e.finish_reason]
    counts = Counter(reason for _, reason in reasons)
    usual: dict[str, str] = {}
    for reason, _ in counts.most_common():
        usual.setdefault(reason.lower(), reason)
    return {
        id: f"{reason}, and {usual[reason.lower()]}"
        for id, reason in reasons
        if reason != usual[reason.lower()]
    }


def alternating_builds(exchanges: Iterable[Exchange]) -> dict[str, str]:
    """Answers of a rarer build, where one comes back after another: a restart into a new build does not. By
    id, each with a detail.
    """
    found: dict[str, str] = {}
    models: dict[str | None, list[tuple[str, str]]] = {}
    for e in sorted(exchanges, key=lambda e: e.done_ns):
        if e.fingerprint:
            models.setdefault(e.model_answered, []).append((e.id, e.fingerprint))
    for told in models.values():
        turns = [build for build, _ in groupby(told, key=lambda pair: pair[1])]
        if len(turns) > len(set(turns)):
            usual = Counter(build for _, build in told).most_common(1)[0][0]
            found |= {id: f"{build}, and {usual}" for id, build in told if build != usual}
    return found


# Which exchanges an oddity could have been seen in, where that is not every one that was answered.
CONCERNED: Mapping[str, Concern] = {
    "stop_at_limit": lambda e: 0 < e.max_tokens <= (e.completion_tokens or 0),
    "buffered": lambda e: (
        e.stream
        and (timing(e, "predicted_ms") or 0) >= BUFFERED_MIN_MS
        and (e.completion_tokens or 0) >= BUFFERED_MIN_TOKENS
    ),
    "replacement_character": lambda e: bool(e.text or e.reasoning),
    "timings_under_clock": lambda e: e.stream and timing(e, "predicted_ms") is not None,
    "came_slower": lambda e: e.stream and timing(e, "predicted_ms") is not None,
    "stalled_on_its_way": lambda e: e.stream and timing(e, "predicted_ms") is not None,
    "paused_on_its_way": lambda e: e.stream and timing(e, "predicted_ms") is not None,
    "ended_late": lambda e: e.stream and timing(e, "predicted_ms") is not None,
    "stalled_alone": lambda e: e.stream and timing(e, "predicted_ms") is None,
    "cached_denied": claims_hit,
    "cached_denied_alone": claims_hit,
    "length_early": lambda e: e.finish_reason == "length",
    "events_lost": forced,
    "events_doubled": countable,
    "tokens_overcounted": countable,
    "prompt_cut": lambda e: e.prompt_chars >= LONG,
    "prompt_tokens_few": lambda e: e.prompt_chars >= LONG,
}
