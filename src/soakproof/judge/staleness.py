"""Readings that are old: a document that stays as it was while what it tells of goes on. Pure; no I/O."""

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby

from soakproof.clock import NS
from soakproof.judge.claims import timing, whole
from soakproof.judge.evidence import Evidence
from soakproof.records import Event, Exchange, Sample

LEAST_READINGS = 3  # alike, one after another
LEAST_ANSWERS = 3  # made meanwhile, from sending to end: each has a task of its own
_EDGE_NS = NS // 20  # of an answer's making, at which a look may be before or after it
_HEALTH_LATE_S = 5  # a front may take so long to see that its backend has ended
_TOLD = ("backend", "total", "busy", "seeds", "tasks", "decoded", "prompt_processed", "last_tasks")


def stale_slots(evidence: Evidence, samples: Sequence[Sample]) -> list[tuple[Sample, Sample, int]]:
    """Stretches in which the slots stayed the same though answers were made: from, to, and how many.

    Every request is a task of its own, which a slot goes on to show when it is idle. A slot that is truly
    stuck leaves the others to show theirs.
    """
    router = _is_router(evidence)
    asked = evidence.target.get("model")
    ours = (e for e in evidence.exchanges if asked in (None, e.model_asked))
    answers = [e for e in ours if whole(e) and e.first_token_ns is not None]
    found = []
    for told, group in groupby(samples, key=_told):
        alike = list(group)
        first, last = alike[0], alike[-1]
        if told is None or len(alike) < LEAST_READINGS or (router and not first.values.get("busy")):
            continue
        made = _within(answers, first.t_ns, last.t_ns - last.took_ns)
        if made >= LEAST_ANSWERS:
            found.append((first, last, made))
    return found


def idle_at_work(evidence: Evidence, samples: Sequence[Sample]) -> tuple[list[tuple[Sample, Exchange]], int]:
    """Readings with no slot at work while an answer was surely in the making, each with one such answer; and
    in how many readings one was. Both are to be of the same model's slots.

    An answer is in the making from its first token on for as long as the server says that it took, and no
    longer than its tokens came.
    """
    asked = evidence.target.get("model")
    there = () if _is_router(evidence) else evidence.exchanges
    ours = [e for e in there if asked in (None, e.model_asked) and whole(e) and e.stream]
    times = [sample.t_ns for sample in samples]  # in their order
    if not times:
        return [], 0
    during: dict[int, Exchange] = {}
    for answer in ours:
        for begin, end in _in_the_making(answer):
            for place in range(bisect_left(times, begin), bisect_left(times, end)):
                if times[place] - samples[place].took_ns > begin:
                    during.setdefault(place, answer)
    idle = [place for place in sorted(during) if samples[place].values.get("busy") == 0]
    return [(samples[place], during[place]) for place in idle], len(during)


def _is_router(evidence: Evidence) -> bool:
    """Whether its answers may come from another model's slots."""
    return str(evidence.target.get("asked_recipe") or "").startswith("collection")


def _in_the_making(exchange: Exchange) -> Iterator[tuple[int, int]]:
    """From when to when, run clock ns; nothing where that cannot be said."""
    first, last, took_ms = exchange.first_token_ns, exchange.last_token_ns, timing(exchange, "predicted_ms")
    if first is not None and last is not None and took_ms is not None:
        end = min(last, first + round(took_ms * NS / 1000))
        if end - first > 2 * _EDGE_NS:
            yield first + _EDGE_NS, end - _EDGE_NS


def _told(sample: Sample) -> Hashable:
    """All of a reading that work changes; None where it does not tell the tasks of all slots."""
    tasks = sample.values.get("last_tasks")
    if not tasks or len(tasks) != sample.values.get("total"):
        return None
    return tuple(tuple(v) if isinstance(v, list) else v for v in map(sample.values.get, _TOLD))


def _within(answers: Sequence[Exchange], begin_ns: int, end_ns: int) -> int:
    return sum(e.sent_ns > begin_ns and e.done_ns < end_ns for e in answers)


def health_is_stale(evidence: Evidence, end: Event) -> int:
    """How many requests were answered though a process had ended, which health lists for ever; else 0."""
    looks = [
        s for s in evidence.source("health") if s.state == "value" and s.t_ns > end.t_ns + _HEALTH_LATE_S * NS
    ]
    pid = end.details.get("pid")
    if len(looks) < LEAST_READINGS or any(pid not in (s.values.get("pids") or ()) for s in looks):
        return 0
    answered = sum(whole(e) and e.sent_ns > end.t_ns for e in evidence.exchanges)
    return answered if answered >= LEAST_ANSWERS else 0
