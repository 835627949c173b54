"""Readings that are old: a document that stays as it was while what it tells of goes on. Pure; no I/O."""

from collections.abc import Hashable, Sequence
from itertools import groupby

from soakproof.clock import NS
from soakproof.judge.claims import whole
from soakproof.judge.evidence import Evidence
from soakproof.records import Event, Exchange, Sample

LEAST_READINGS = 3  # alike, one after another
LEAST_ANSWERS = 3  # made meanwhile, from sending to end: each has a task of its own
_HEALTH_LATE_S = 5  # a front may take so long to see that its backend has ended
_TOLD = ("backend", "total", "busy", "seeds", "tasks", "decoded", "prompt_processed", "last_tasks")


def stale_slots(evidence: Evidence, samples: Sequence[Sample]) -> list[tuple[Sample, Sample, int]]:
    """Stretches in which the slots stayed the same though answers were made: from, to, and how many.

    Every request is a task of its own, which a slot goes on to show when it is idle. A slot that is truly
    stuck leaves the others to show theirs. A router's answers may come from another model's slots.
    """
    router = str(evidence.target.get("asked_recipe") or "").startswith("collection")
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
