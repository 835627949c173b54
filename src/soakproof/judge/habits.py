"""What a server does as a rule, so that the exchange in which it does not is seen. Pure; no I/O."""

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge.claims import timing
from soakproof.judge.evidence import Evidence
from soakproof.judge.lostevents import countable, is_forced
from soakproof.judge.occupancy import spans
from soakproof.judge.promptcounts import LONG
from soakproof.reading.ending import BUFFERED_MIN_MS, BUFFERED_MIN_TOKENS
from soakproof.records import Exchange

Answers = Table[Exchange]
Mask = NDArray[np.bool_]
HABIT = 0.5  # of the answers of one sort: what is in so many belongs in each
HIT = 256  # cached tokens: a hit that would save time
COLD_MS = 50.0  # of prompt work: less says nothing of a cache
ROOM = 0.9  # of a slot's context: what has filled less was not cut by it
DENIED = 0.7  # of the cold prompt's time: a hit that takes as long restored nothing
LOOKED_AT = 1000  # denied hits
BESIDE = 0.2  # of a prompt's time: neighbours that were at work on prompts for less did not slow it

Concern = Callable[[Answers], int]


def missing(evidence: Evidence) -> dict[str, list[str]]:
    """Ids of answers without usage, timings or cached tokens, of a server that sends them with others of
    their sort.

    llama.cpp sends usage and timings with each; of another server its own habit tells.
    """
    answers = evidence.exchange_table.where(evidence.exchange_table.whole)
    llama = bool(evidence.target.get("build")) or evidence.target.get("recipe") == "llamacpp"
    with_usage = answers.where(answers.fact("has_usage"))
    return {
        "usage_missing": _without(answers, "has_usage", llama),
        "timings_missing": _without(answers, "tells_times", llama),
        "cached_missing": _without(with_usage, "tells_cached", False),
    }


def _without(answers: Answers, fact: str, always: bool) -> list[str]:
    has = answers.fact(fact)
    found: list[str] = []
    for sort in (answers["stream"], ~answers["stream"]):
        lacking = sort & ~has
        if lacking.any() and (always or (sort & has).sum() >= HABIT * sort.sum()):
            found += answers["id"][lacking].tolist()
    return found


def claims_hit(answers: Answers) -> Mask:
    """Of which the server says that most of a long prompt was restored, and how long the rest took."""
    cached, prompt = np.nan_to_num(answers["cached_tokens"]), np.nan_to_num(answers["prompt_tokens"])
    is_hit = (cached >= HIT) & (cached >= 4 * (prompt - cached))
    return np.asarray(answers.whole & is_hit & ~np.isnan(answers.timing("prompt_ms")), bool)


def denied_hits(answers: Answers) -> Answers:
    """Claimed hits whose prompts took as long as cold ones of this run, token for token.

    Neighbours slow single prompts, so one denied hit proves nothing: see the oddity's share.
    """
    hits = claims_hit(answers)
    worked, took = answers.timing("prompt_n"), np.nan_to_num(answers.timing("prompt_ms"))
    cold = answers.whole & (worked >= HIT) & ~hits
    if not cold.any() or not (a_token := float(np.median(took[cold] / worked[cold]))):
        return answers.where(np.zeros(len(answers), bool))
    due = a_token * np.nan_to_num(answers["prompt_tokens"])
    return answers.where(hits & (due >= COLD_MS) & (took >= DENIED * due))


def denied_alone(evidence: Evidence, denied: Answers) -> list[str]:
    """Ids of those of the denied hits that no neighbour's prompt slowed; of very many the first are looked
    at.
    """
    if not len(denied):
        return []
    all_of = spans(evidence)
    found = []
    for hit in denied.where(np.arange(len(denied)) < LOOKED_AT).records:
        until = hit.done_ns if hit.first_token_ns is None else hit.first_token_ns
        there = np.flatnonzero((all_of.start_ns < until) & (all_of.end_ns > hit.sent_ns))
        others = np.array([n for n in there if all_of.id[n] != hit.id], np.int64)
        beside_ms = all_of.blocks_ns(others, hit.sent_ns, until).sum() / NS * 1000
        if beside_ms <= BESIDE * (timing(hit, "prompt_ms") or 0):
            found.append(hit.id)
    return found


def early_length(evidence: Evidence) -> dict[str, str]:
    """Answers that are told to be cut and are below every limit: max_tokens, the slot's context, and what the
    server has made of other answers, in case that it has a limit of its own. By id, each with a detail.
    """
    table = evidence.exchange_table
    answers = table.where(table.whole & ~np.isnan(table["completion_tokens"]))
    made, asked = answers["completion_tokens"], answers["max_tokens"]
    context = number((evidence.run.get("around") or {}).get("slot_context"))
    if context is None or not len(answers):
        return {}
    early = (answers["finish_reason"] == "length") & (made < np.minimum(made.max(), asked))
    early &= answers["prompt_tokens"] + made < ROOM * context
    return {e.id: f"{e.completion_tokens} of {e.max_tokens} tokens" for e in answers.where(early).records}


def spelled_otherwise(answers: Answers) -> dict[str, str]:
    """Answers whose finish reason differs from the commoner one of others in capitals alone. By id, each with
    a detail.
    """
    counts = Counter(reason for reason in answers["finish_reason"].tolist() if reason)
    usual: dict[str, str] = {}
    for reason, _ in counts.most_common():
        usual.setdefault(reason.lower(), reason)
    return {
        id: f"{reason}, and {usual[reason.lower()]}"
        for reason in counts
        if reason != usual[reason.lower()]
        for id in answers["id"][answers["finish_reason"] == reason].tolist()
    }


def alternating_builds(answers: Answers) -> dict[str, str]:
    """Answers of a rarer build, where one comes back after another: a restart into a new build does not. By
    id, each with a detail.
    """
    found: dict[str, str] = {}
    if len(set(answers["fingerprint"].tolist()) - {None, ""}) < 2:
        return found
    models: dict[str | None, list[tuple[str, str]]] = {}
    order = np.argsort(answers["done_ns"], kind="stable")
    columns = (answers[name][order].tolist() for name in ("id", "fingerprint", "model_answered"))
    for id, build, model in zip(*columns, strict=True):
        if build:
            models.setdefault(model, []).append((id, build))
    for told in models.values():
        turns = [build for build, _ in groupby(told, key=lambda pair: pair[1])]
        if len(turns) > len(set(turns)):
            usual = Counter(build for _, build in told).most_common(1)[0][0]
            found |= {id: f"{build}, and {usual}" for id, build in told if build != usual}
    return found


def _with_times(answers: Answers) -> int:
    return int((answers["stream"] & ~np.isnan(answers.timing("predicted_ms"))).sum())


def _without_times(answers: Answers) -> int:
    return int((answers["stream"] & np.isnan(answers.timing("predicted_ms"))).sum())


def _could_be_buffered(answers: Answers) -> int:
    long = answers.timing("predicted_ms") >= BUFFERED_MIN_MS
    return int((answers["stream"] & long & (answers["completion_tokens"] >= BUFFERED_MIN_TOKENS)).sum())


def _at_limit(answers: Answers) -> int:
    most = answers["max_tokens"]
    return int(((most > 0) & (most <= answers["completion_tokens"])).sum())


def _forced(answers: Answers) -> int:
    return int(is_forced(countable(answers)).sum())


# How many exchanges an oddity could have been seen in, where that is not every one that was answered.
CONCERNED: Mapping[str, Concern] = {
    "stop_at_limit": _at_limit,
    "buffered": _could_be_buffered,
    "replacement_character": lambda answers: int(
        (answers.fact("has_text") | (answers.fact("reasoning_chars") > 0)).sum()
    ),
    "timings_under_clock": _with_times,
    "came_slower": _with_times,
    "stalled_on_its_way": _with_times,
    "paused_on_its_way": _with_times,
    "ended_late": _with_times,
    "stalled_alone": _without_times,
    "cached_denied": lambda answers: int(claims_hit(answers).sum()),
    "cached_denied_alone": lambda answers: int(claims_hit(answers).sum()),
    "length_early": lambda answers: int((answers["finish_reason"] == "length").sum()),
    "events_lost": _forced,
    "events_doubled": lambda answers: len(countable(answers)),
    "tokens_overcounted": lambda answers: len(countable(answers)),
    "prompt_cut": lambda answers: int((answers["prompt_chars"] >= LONG).sum()),
    "prompt_tokens_few": lambda answers: int((answers["prompt_chars"] >= LONG).sum()),
}
