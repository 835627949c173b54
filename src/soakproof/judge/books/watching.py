"""The watch's readings against its own account of them, which it gives with its last word. No I/O."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.judge.books.disagreement import Disagreement, of_places
from soakproof.judge.books.spans import crashed, is_load
from soakproof.judge.telling import counted
from soakproof.plain import plain
from soakproof.records import Event
from soakproof.samples import Readings

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

STARTED, ENDED, STEPPED = "watch_started", "watch_ended", "clock_step"
APART_S = 60.0  # between the run's clock and the wall clock, which whoever set the clock may have made
_SAID_ONCE = ("unsupported", "denied")  # a line the first time, and again when it has changed


def watching(evidence: "Evidence") -> Iterator[Disagreement]:
    """As many readings of each source and state as it says, as many incidents, one start and one end."""
    for node in evidence.nodes:
        if not is_load(node):
            yield from _of_node(evidence, node)
    empty = [source for source, told in evidence.samples.items() for _ in range(_empty(told))]
    yield from of_places("watch", empty, "reading", "without a value, called a reading")
    yield from of_places(
        "watch",
        evidence.unsound,
        "reading or event",
        "with a value that it cannot have",
        "readings or events",
    )


def _empty(readings: Readings) -> int:
    """How many say that they have a value, and have none."""
    told = [column.is_told for column in readings.values.values()]
    return int((readings.has_value & ~np.any(told, axis=0)).sum()) if told else int(readings.has_value.sum())


def _of_node(evidence: "Evidence", node: str) -> Iterator[Disagreement]:
    own = [e for e in evidence.events if e.node == node]
    begins, ends = ([e for e in own if e.what == what] for what in (STARTED, ENDED))
    wanted = bool(begins or ends) and not crashed(evidence)
    if wanted and (len(begins), len(ends)) != (1, 1):
        told = f"{plain(node, 40)} told {counted(len(begins), 'start')} and {counted(len(ends), 'end')}"
        yield Disagreement("watch", told)
        return
    if begins:
        yield from _elsewhen(evidence, node, begins[0])
    if begins and ends:
        yield from _outside(evidence, node, begins[0].t_ns, ends[0].t_ns)
        yield from _counts(evidence, node, ends[0].details)


def _elsewhen(evidence: "Evidence", node: str, start: Event) -> Iterator[Disagreement]:
    """Whether the watch began by the wall clock when its run did; a step of that clock may explain it."""
    zero, wall = _zero(evidence.run), number(start.details.get("wall_unix_s"))
    if zero is None or wall is None:
        return
    apart = wall - (zero + start.t_ns / NS)
    steps = [e.details.get("step_s") for e in evidence.events if e.what == STEPPED]
    if abs(apart) > APART_S + sum(abs(s) for s in steps if isinstance(s, (int, float))):
        way = "later" if apart > 0 else "earlier"
        told = (
            f"{plain(node, 40)} began {abs(apart):,.0f} s {way} by the wall clock than its place in the run"
        )
        yield Disagreement("watch", told)


def _zero(run: Mapping[str, Any]) -> float | None:
    """The wall time of the run's zero, in seconds; None where the run does not tell."""
    try:
        told = datetime.fromisoformat(str(run.get("started_at")))
        return told.timestamp() if told.tzinfo else None
    except (ValueError, OverflowError, OSError):
        return None


def _outside(evidence: "Evidence", node: str, began: int, ended: int) -> Iterator[Disagreement]:
    found = [
        f"{source} of {node}"
        for source, told in evidence.samples.items()
        for _ in range(int(((told.node == node) & ((told.t_ns < began) | (told.t_ns > ended))).sum()))
    ]
    yield from of_places("watch", found, "reading", "before its start or after its end")


def _counts(evidence: "Evidence", node: str, account: Mapping[str, Any]) -> Iterator[Disagreement]:
    states = account.get("states")
    if isinstance(states, Mapping):
        wrong = list(_wrong_counts(evidence, node, states))
        yield from of_places("watch", wrong, "source", "with another number of readings than it counted")
    incidents = account.get("incidents")
    there = len({k.incident for k in evidence.kernel if k.node == node and k.incident is not None})
    if isinstance(incidents, int) and incidents != there:
        told = (
            f"{plain(node, 40)} counted {counted(incidents, 'incident')} in the kernel log; {there} are told"
        )
        yield Disagreement("watch", told)


def _wrong_counts(evidence: "Evidence", node: str, states: Mapping[str, Any]) -> Iterator[str]:
    there: Counter[tuple[str, str]] = Counter()
    for source, told in evidence.samples.items():
        there.update({(source, state): n for state, n in told.of(node).states().items()})
    claimed = {
        (str(source), str(state)): n
        for source, of in states.items()
        if isinstance(of, Mapping)
        for state, n in of.items()
        if isinstance(n, int)
    }
    for key in sorted({*there, *claimed}):
        has, says = there[key], claimed.get(key, 0)
        once = key[1] in _SAID_ONCE and 0 < has <= says
        if has != says and not once:
            yield f"{key[0]}: {has} with state {key[1]} are there, {says} were counted"
