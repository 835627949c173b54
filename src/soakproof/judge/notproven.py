"""What a run does not prove, in sentences derived from what was run. Every report ends with them. No I/O."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from soakproof.columns import Array
from soakproof.judge.evidence import Evidence
from soakproof.judge.naming import forms
from soakproof.judge.slotwork import planned_phase
from soakproof.judge.statistics import INFERENCE_FROM
from soakproof.judge.telling import length
from soakproof.judge.trend import LEAK_FROM_S
from soakproof.plain import listed, model_name, plain

_PHASES = {
    "queued": "while queued",
    "prefill": "during prefill",
    "first_token": "at the first token",
    "decode": "in mid-decode",
    "near_end": "near the end",
    "unstreamed": "without streaming",
}
_NEAR_FULL = 0.9
KINDS_SHOWN = 20


def not_proven(evidence: Evidence, baseline: Evidence | None) -> tuple[str, ...]:
    """Sentences; ``baseline`` is None where none could be used."""
    return (
        *_scope(evidence),
        *_time(evidence),
        *_context(evidence),
        *_concurrency(evidence),
        *_cancels(evidence),
        *_sources(evidence),
        *_baseline(evidence, baseline),
        "Text that no check looks at, such as long prose, was not read for sense.",
    )


def _scope(evidence: Evidence) -> Iterator[str]:
    target = evidence.target
    if target.get("testbed"):
        yield "The target was the testbed: no other server was tested."
    model = plain(model_name(target.get("model_resolved") or target.get("model") or "unknown"), 80)
    yield f"One model ({model}) on one host was tested: no other model, profile or machine."
    if evidence.left_out:
        names = listed(evidence.left_out, KINDS_SHOWN)
        yield f"Kinds of the plan that were left out, by --tags or its own [short], were not tested: {names}."
    if not any(evidence.exchange_table["route"].tolist()):
        yield "No request went through a router: routers were not tested."
    if not _by_alias(evidence):
        yield "No request is known to have asked by an alias: aliases were not tested."


def _by_alias(evidence: Evidence) -> bool:
    """Whether requests asked for the model by a name that is none of its own.

    A bare llama.cpp has no aliases: it answers whatever is asked.
    """
    target = evidence.target
    resolved = target.get("model_resolved")
    if target.get("kind") != "lemonade" or not isinstance(resolved, str):
        return False
    asked = set(evidence.exchange_table["model_asked"].tolist())
    return any(forms(name).isdisjoint(forms(resolved)) for name in asked if name)


def _time(evidence: Evidence) -> Iterator[str]:
    duration = evidence.duration
    if duration is None:
        yield "The run's end is not known: it proves nothing about its length."
        return
    if duration < LEAK_FROM_S:
        yield f"{length(duration)} of load can neither prove nor exclude a leak: that takes two hours."
    if duration < 86_400:
        yield f"{length(duration)} of load shows no 24-hour trend."


def _context(evidence: Evidence) -> Iterator[str]:
    size = evidence.target.get("slot_context") or (evidence.run.get("around") or {}).get("slot_context")
    table = evidence.exchange_table
    sizes = np.nan_to_num(table["prompt_tokens"]) + np.nan_to_num(table["completion_tokens"])
    longest = int(sizes.max(initial=0))
    if not longest:
        yield "No request's size in tokens is known."
    elif size and longest < _NEAR_FULL * size:
        yield (
            f"No request came near a full context: the longest had {longest:,} of {size:,} tokens, "
            "and no two near-full prompts ran at once."
        )
    elif size:
        full = table.where(sizes >= _NEAR_FULL * size)
        if _most_at_once(full["sent_ns"], full["done_ns"]) < 2:
            yield "No two near-full prompts ran at once."


def _concurrency(evidence: Evidence) -> Iterator[str]:
    most = _most_at_once(evidence.exchange_table["sent_ns"], evidence.exchange_table["done_ns"])
    slots = evidence.target.get("slots")
    if most:
        yield f"Never more than {most} requests were in flight at once" + (
            f", on {slots} slots: queueing was not tested." if slots and most <= slots else "."
        )
    iterations = evidence.iteration_table
    pairs = sum(counts.get("isolation.overlap", 0) for counts in iterations["counts"].tolist())
    if any(kind.startswith("isolation") for kind in set(iterations["scenario"].tolist())):
        plural = "" if pairs == 1 else "s"
        yield f"Isolation rests on {pairs:.0f} pair{plural} of requests that overlapped in time."
    else:
        yield "Isolation between requests was not tested."


def _most_at_once(starts: Array, ends: Array) -> int:
    """How many spans there were at one time at most; one that ends as another starts was not beside it."""
    begun = np.sort(starts)
    running = np.arange(1, len(begun) + 1) - np.searchsorted(np.sort(ends), begun, "right")
    return int(running.max(initial=0))


def _cancels(evidence: Evidence) -> Iterator[str]:
    table = evidence.exchange_table
    was_cancelled = np.nan_to_num(table["cancelled_ns"]) != 0
    done = {planned_phase(plan) for plan in table["cancel_planned"][was_cancelled].tolist() if plan}
    missing = [words for phase, words in _PHASES.items() if phase not in done]
    if not done:
        yield "No request was cancelled: a freed slot was not tested."
    elif missing:
        yield f"No request was cancelled {_listed(missing)}."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _sources(evidence: Evidence) -> Iterator[str]:
    if not evidence.saw("kernel_log"):
        yield "The kernel log could not be read: that no fault was seen there says nothing."
    else:
        yield "Some GPU hangs leave no line in the kernel log: a quiet log is not proof of a healthy GPU."
    for source, about in (
        ("memory", "the host's memory"),
        ("process", "the server's memory"),
        ("slots", "the slots"),
    ):
        if not evidence.saw(source):
            yield f"Nothing was seen of {about}."
    if not evidence.saw("amdgpu") and not evidence.saw("nvidia"):
        yield "Nothing was seen of a GPU: its memory, clocks and temperature are unknown."


def _baseline(evidence: Evidence, baseline: Evidence | None) -> Iterator[str]:
    if baseline is None:
        yield "There was no baseline to compare with: nothing is said of faster or slower."
        return
    iterations = evidence.iteration_table
    kinds, ends = iterations["scenario"].tolist(), iterations["end"].tolist()
    completed = Counter(kind for kind, end in zip(kinds, ends, strict=True) if end == "completed")
    few = sorted(kind for kind in set(kinds) if completed[kind] < INFERENCE_FROM)
    if few:
        yield f"Fewer than {INFERENCE_FROM} repeats of {_listed(few)}: their rates only describe."
    apart = evidence.run.get("boot_id") != baseline.run.get("boot_id")
    yield f"The {'runs' if baseline.repeats else 'two runs'} were not interleaved" + (
        ": what changed on the host between them is part of every difference." if apart else "."
    )
