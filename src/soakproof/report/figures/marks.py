"""What happened to a run, as marks on its time: faults, kernel incidents, restarts, the guard. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.telling import counted
from soakproof.records import KernelEvent
from soakproof.report.visible import line

_SEVERE = ("fatal", "fail")
MOST = 40


@dataclass(frozen=True, slots=True)
class Mark:
    """What happened to the run, from when until when, in seconds; an instant begins and ends at once."""

    at: float
    until: float
    what: str  # "fault", "kernel", "restart", "guard"
    label: str


def marks(evidence: Evidence) -> list[Mark]:
    """All of them, in order of time; the lines of one kernel incident are one mark."""
    found = [
        Mark(e.t_ns / NS, e.t_ns / NS, kind, line(_label(e.what, e.details), 60))
        for e in evidence.events
        if (kind := _kind(e.what))
    ]
    incidents: dict[int | str, list[KernelEvent]] = {}
    for number, event in enumerate(evidence.kernel):
        if event.severity in _SEVERE:
            key = f"line {number}" if event.incident is None else event.incident
            incidents.setdefault(key, []).append(event)
    found += [_incident(events) for events in incidents.values()]
    return sorted(found, key=lambda mark: mark.at)


def _incident(events: Sequence[KernelEvent]) -> Mark:
    first = events[0]
    times = [event.t_ns / NS for event in events]
    return Mark(min(times), max(times), "kernel", line(first.fault_class or first.message, 60))


def _kind(what: str) -> str:
    first = what.partition("_")[0]
    if first in ("fault", "injection", "injected"):
        return "fault"
    return first if first in ("restart", "guard") else ""


def _label(what: str, details: dict[str, object]) -> str:
    named = details.get("fault") or details.get("name") or details.get("role") or details.get("reason") or ""
    return f"{what.replace('_', ' ')} {named}".strip()


def told(found: list[Mark]) -> str:
    """The marks in words, for a caption."""
    if not found:
        return "no fault, kernel incident or restart was recorded"
    first = ", ".join(f"{m.label} {_when(m)}" for m in found[:6])
    return f"{first} and {counted(len(found) - 6, 'other')}" if len(found) > 6 else first


def _when(mark: Mark) -> str:
    if mark.until - mark.at < 1:
        return f"at {mark.at:,.0f} s"
    return f"from {mark.at:,.0f} to {mark.until:,.0f} s"


def run_end(evidence: Evidence) -> float:
    """Seconds of the run's last record."""
    ends = [*evidence.exchange_table["done_ns"].tolist(), *evidence.iteration_table["ended_ns"].tolist()]
    ends += [s[-1].due_ns for s in evidence.samples.values()] + [evidence.run.get("load_ended_ns") or 0]
    return float(max(ends) / NS)
