"""What the tester always leaves of itself: a sample a second, and its last look at the slots. No I/O."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from soakproof.clock import NS
from soakproof.judge.books.disagreement import Disagreement
from soakproof.judge.books.spans import crashed, is_load, of_this_program
from soakproof.judge.telling import counted
from soakproof.plain import plain
from soakproof.samples import Readings

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

START_NS, END_NS = 5 * NS, 2 * NS  # what may be missing at the edges of the load; its start may be busy
FINAL = "final_slots"
_LOAD = ("load_started_ns", "load_ended_ns")


def tester(evidence: "Evidence") -> Iterator[Disagreement]:
    """Its samples follow each other without a gap, through all of the load, and its last word is there."""
    if crashed(evidence) or not of_this_program(evidence) or not {*_LOAD} <= {*evidence.run}:
        return
    for node in filter(is_load, evidence.nodes):
        own = evidence.source("tester").of(node)
        yield from _samples(evidence, node, own)
        finals = [e.t_ns for e in evidence.events if e.what == FINAL and e.node == node]
        if len(finals) != 1 or finals[0] < evidence.run["load_ended_ns"]:
            told = f"{counted(len(finals), 'time')}, and it is told once, after the load"
            yield Disagreement("tester", f"{plain(node, 40)} told its last look at the slots {told}")


def _samples(evidence: "Evidence", node: str, own: Readings) -> Iterator[Disagreement]:
    began, ended = (evidence.run[name] for name in _LOAD)
    if ended - began < START_NS and not len(own):
        return
    # When the next sample is due: the next whole second that is not past yet.
    next_due = own.due_ns + NS * np.maximum(1, 1 + (own.t_ns - own.due_ns) // NS)
    gaps = np.flatnonzero(own.due_ns[1:] != next_due[:-1])
    late = not len(own) or own.due_ns[0] > began + START_NS
    early = not len(own) or next_due[-1] < ended - END_NS
    where = [f"after {own.times_s[gaps[0]]:.1f} s"] if len(gaps) else []
    where += ["at the load's start"] * bool(late) + ["at the load's end"] * bool(early)
    if where:
        told = f"{counted(len(own), 'sample')} of itself in {(ended - began) / NS:.0f} s of load"
        yield Disagreement(
            "tester", f"{plain(node, 40)} left {told}, and some are missing {' and '.join(where)}"
        )
