"""What happened to a run, as marks on its time: faults, kernel incidents, restarts, the guard. No I/O."""

from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.telling import counted
from soakproof.report.visible import line

_SEVERE = ("fatal", "fail")
MOST = 40


@dataclass(frozen=True, slots=True)
class Mark:
    """One instant of the run, in seconds, and what happened then."""

    at: float
    what: str  # "fault", "kernel", "restart", "guard"
    label: str


def marks(evidence: Evidence) -> list[Mark]:
    """All of them, in order of time; a kernel incident is marked once, where it began."""
    found = [
        Mark(e.t_ns / NS, kind, line(_label(e.what, e.details), 60))
        for e in evidence.events
        if (kind := _kind(e.what))
    ]
    incidents: set[int] = set()
    for event in evidence.kernel:
        if event.severity not in _SEVERE or event.incident in incidents:
            continue
        if event.incident is not None:
            incidents.add(event.incident)
        found.append(Mark(event.t_ns / NS, "kernel", line(event.fault_class or event.message, 60)))
    return sorted(found, key=lambda mark: mark.at)


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
    first = ", ".join(f"{m.label} at {m.at:,.0f} s" for m in found[:6])
    return f"{first} and {counted(len(found) - 6, 'other')}" if len(found) > 6 else first


def run_end(evidence: Evidence) -> float:
    """Seconds of the run's last record."""
    ends = [e.done_ns for e in evidence.exchanges] + [s[-1].due_ns for s in evidence.samples.values()]
    ends += [i.ended_ns for i in evidence.iterations] + [evidence.run.get("load_ended_ns") or 0]
    return max(ends) / NS
