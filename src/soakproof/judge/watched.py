"""How much of the load the watch saw: by its own account, and by each source's readings. Pure; no I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.plain import plain
from soakproof.records import Event
from soakproof.samples import Readings

NODE = "watch"
KNOWN_SHARE = 0.95  # of what was due must be there for anything to be said of the whole
_OF_PROCESSES = ("process:", "gpu_memory:", "cgroup:")  # sources of one process each
_LATEST = 2**63 - 1
_SLOWLY = ("slots", "metrics", "metrics:front")


@dataclass(frozen=True, slots=True)
class Seen:
    """A source's readings while the load ran; ``due`` is None where the load's end is not known."""

    good: int  # with a value
    due: int | None
    widest_s: float | None  # between two with a value
    samples: Readings

    @property
    def due_told(self) -> str:
        return "an unknown number" if self.due is None else str(self.due)

    def enough(self, share: float) -> bool:
        return self.due is not None and self.good >= wanted(self.due, share)


def wanted(due: int, share: float) -> float:
    """How many of those due must be there. One may be missing in any case: a schedule has edges."""
    return min(share * due, max(1, due - 1))


def interval_s(evidence: Evidence, source: str) -> float:
    """Seconds between two readings, as the watch told at its start; else as the plan says."""
    told = _started(evidence)
    periods = told.details.get("periods_s") if told else None
    period = number(periods.get(source.partition(":")[0])) if isinstance(periods, Mapping) else None
    if period:
        return period
    watch: Mapping[str, Any] = evidence.plan.get("watch") or {}
    key, default = ("slots_every_s", 2.5) if source in _SLOWLY else ("interval_s", 1.0)
    return float(watch.get(key) or default)


def absence(evidence: Evidence, share: float) -> str:
    """What part of the load the watch did not see, in words; empty when it saw all of it."""
    start, end = load_span(evidence)
    started = _started(evidence)
    ended = ending(evidence)
    if end is None:
        return "when the load ended is not known"
    if started is None:
        return "it never told its start"
    slack = interval_s(evidence, "memory") * NS
    if started.t_ns > start + slack:
        return f"it began {(started.t_ns - start) / NS:.1f} s after the load's start"
    if ended is None:
        return f"it never told its end, so it was killed; {_last_sample(evidence, end)}"
    if ended.t_ns < end - slack:
        why = plain(ended.details.get("reason") or "no reason told", 80)
        return f"it ended {(end - ended.t_ns) / NS:.1f} s before the load's end ({why})"
    return _missed_ticks(ended, share)


def _started(evidence: Evidence) -> Event | None:
    return next((e for e in evidence.events if e.what == "watch_started"), None)


def ending(evidence: Evidence) -> Event | None:
    """The watch's own last word."""
    return next((e for e in reversed(evidence.events) if e.what == "watch_ended"), None)


def _missed_ticks(ended: Event, share: float) -> str:
    due, had = (number(ended.details.get(name)) for name in ("ticks_due", "ticks_had"))
    if due is None or had is None:
        return "how often it looked is not known"
    return "" if had >= wanted(int(due), share) else f"it met {had:g} of {due:g} ticks"


def _last_sample(evidence: Evidence, end: int) -> str:
    own = [part for told in evidence.samples.values() if len(part := told.of(NODE))]
    if not own:
        return "it left no sample"
    last = max(int(part.t_ns.max()) for part in own)
    return f"its last sample came {max(0, end - last) / NS:.1f} s before the load's end"


def seen_sources(evidence: Evidence) -> list[str]:
    """The watch's sources that had a value at any time, in order of name."""
    return sorted(source for source, told in evidence.samples.items() if told.of(NODE).has_value.any())


def seen_of(evidence: Evidence, source: str) -> Seen:
    """What a source told during the load, and how much was due.

    A process is due as long as it was there: from its first reading on, and not between its end and the
    first reading of the one that came after it.
    """
    start, end = load_span(evidence)
    told = evidence.source(source)
    good_ns = told.due_ns[told.has_value].tolist()
    away: list[tuple[int, int]] = []
    if source.startswith(_OF_PROCESSES) and end is not None:
        away = [(start, min(good_ns, default=end)), *_between_processes(evidence, source, good_ns, end)]
    during = told.take((told.due_ns >= start) & (told.due_ns <= (_LATEST if end is None else end)))
    times = np.unique(during.due_ns[during.has_value])
    due = (
        None
        if end is None
        else int((end - start - _covered(away, start, end)) / NS / interval_s(evidence, source))
    )
    widest = float(np.diff(times).max()) / NS if len(times) > 1 else None
    return Seen(len(times), due, widest, during)


def _between_processes(
    evidence: Evidence, source: str, good_ns: Sequence[int], end: int
) -> Iterable[tuple[int, int]]:
    role = source.partition(":")[2]
    for event in evidence.events:
        if event.what == "vanished" and event.details.get("role") == role:
            yield event.t_ns, min((t for t in good_ns if t > event.t_ns), default=end)


def _covered(stretches: Iterable[tuple[int, int]], start: int, end: int) -> int:
    """Nanoseconds of start to end that lie in any of the stretches."""
    covered, reached = 0, start
    for begin, until in sorted(stretches):
        covered += max(0, min(until, end) - max(begin, reached))
        reached = max(reached, min(until, end))
    return covered
