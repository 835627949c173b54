"""Readings that are old: a document that stays as it was while what it tells of goes on. Pure; no I/O."""

from collections.abc import Hashable, Sequence
from itertools import groupby

import numpy as np

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import of_its_model
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
    answers = _answers(evidence)
    answers = answers.where(~np.isnan(answers["first_token_ns"]))
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


def idle_at_work(evidence: Evidence, samples: Sequence[Sample]) -> tuple[list[tuple[Sample, str]], int]:
    """Readings with no slot at work while an answer was surely in the making, each with the id of one such
    answer; and in how many readings one was. Both are to be of the same model's slots.

    An answer is in the making from its first token on for as long as the server says that it took, and no
    longer than its tokens came.
    """
    if _is_router(evidence):
        return [], 0
    answers = _answers(evidence)
    answers = answers.where(answers["stream"])
    first, last, took = answers["first_token_ns"], answers["last_token_ns"], answers.timing("predicted_ms")
    end = np.minimum(last, first + np.rint(took * NS / 1000))
    made = end - first > 2 * _EDGE_NS  # false where one of them is not known
    begin, end, ids = first[made] + _EDGE_NS, end[made] - _EDGE_NS, answers["id"][made]
    times = np.array([sample.t_ns for sample in samples], np.int64)  # in their order
    started = times - np.array([sample.took_ns for sample in samples], np.int64)
    first_look, behind = np.searchsorted(times, begin), np.searchsorted(times, end)
    during: dict[int, str] = {}
    for n in np.flatnonzero(behind > first_look):
        for place in range(first_look[n], behind[n]):
            if started[place] > begin[n]:
                during.setdefault(place, ids[n])
    idle = [place for place in sorted(during) if samples[place].values.get("busy") == 0]
    return [(samples[place], during[place]) for place in idle], len(during)


def _answers(evidence: Evidence) -> Table[Exchange]:
    """Whole answers of the model whose slots are read."""
    table = evidence.exchange_table
    return table.where(table.whole & of_its_model(evidence, table["model_asked"]))


def _is_router(evidence: Evidence) -> bool:
    """Whether its answers may come from another model's slots."""
    return str(evidence.target.get("asked_recipe") or "").startswith("collection")


def _told(sample: Sample) -> Hashable:
    """All of a reading that work changes; None where it does not tell the tasks of all slots."""
    tasks = sample.values.get("last_tasks")
    if not tasks or len(tasks) != sample.values.get("total"):
        return None
    return tuple(tuple(v) if isinstance(v, list) else v for v in map(sample.values.get, _TOLD))


def _within(answers: Table[Exchange], begin_ns: int, end_ns: int) -> int:
    return int(((answers["sent_ns"] > begin_ns) & (answers["done_ns"] < end_ns)).sum())


def health_is_stale(evidence: Evidence, end: Event) -> int:
    """How many requests were answered though a process had ended, which health lists for ever; else 0."""
    looks = [
        s for s in evidence.source("health") if s.state == "value" and s.t_ns > end.t_ns + _HEALTH_LATE_S * NS
    ]
    pid = end.details.get("pid")
    if len(looks) < LEAST_READINGS or any(pid not in (s.values.get("pids") or ()) for s in looks):
        return 0
    table = evidence.exchange_table
    answered = int((table.whole & (table["sent_ns"] > end.t_ns)).sum())
    return answered if answered >= LEAST_ANSWERS else 0
