"""Which of the server's own processes ended for good while the watch looked, and for whom. Pure; no I/O."""

from collections.abc import Iterable

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import models_loaded
from soakproof.plain import clause, plain
from soakproof.records import Event, Party

FRONT, BACKEND = "front", "backend"
ROLES = (FRONT, BACKEND)  # processes of further models (`backend-2`) come and go as the front sees fit


def ended_for_good(evidence: Evidence) -> list[Event]:
    """The ends of processes that no other process in the same role was seen to follow."""
    return [
        event
        for event in evidence.events
        if event.what == "vanished"
        and event.details.get("role") in ROLES
        and not _followed(evidence, event)
        and not _with_its_tester(evidence, event)
        and not by_guard(evidence, event)
    ]


def by_guard(evidence: Evidence, event: Event) -> bool:
    """Whether the run's own guard had begun to end the backend, or to unload its model, before the event."""
    began = guard_acted_ns(evidence)
    return began is not None and event.t_ns >= began and event.details.get("role") == BACKEND


def guard_acted_ns(evidence: Evidence) -> int | None:
    """When the guard tripped that then acted on the server; None where none did."""
    if not any(event.what == "guard_action" for event in evidence.events):
        return None
    return min((event.t_ns for event in evidence.events if event.what == "guard_trip"), default=None)


def guard_did(action: Event) -> str:
    """What the run's own guard did to the server, in words."""
    told = action.details
    if told.get("what") == "unload":
        done = "had the model unloaded" if told.get("done") else "asked in vain for the model's unloading"
    elif told.get("done"):
        how = "by SIGKILL, since SIGTERM was not enough" if told.get("killed") else "by SIGTERM"
        done = f"ended the backend, process {plain(told.get('pid'), 20)}, {how}"
    elif told.get("left"):
        done = "could not end all of the backend"
    else:
        done = "did not end the backend"
    reason = f": {clause(told['reason'], 200)}" if told.get("reason") else ""
    return f"The run's own guard {done}{reason}."


def whose_end(ends: Iterable[Event]) -> Party:
    """Whose fault it is that these ended, or came anew: the front, if it did, takes its backend with it."""
    return "front" if any(is_front(event) for event in ends) else "backend"


def is_front(event: Event) -> bool:
    """Whether what happened was to the front, or to a process below it."""
    return str(event.details.get("role")).partition("'")[0] == FRONT


def _followed(evidence: Evidence, end: Event) -> bool:
    told = evidence.source(f"process:{end.details['role']}")
    return bool((told.has_value & (told.t_ns > end.t_ns)).any())


def _with_its_tester(evidence: Evidence, end: Event) -> bool:
    """Whether the tester was killed and its own testbed ended with it, as it shall: no sign came after."""
    if not evidence.target.get("embedded") or evidence.run.get("ended"):
        return False
    return bool((evidence.source("tester").t_ns < end.t_ns).all())


def took_its_place(evidence: Evidence) -> str:
    """Names of models that came when the run's own went, by the front's last list; empty without any.

    One that was there beside it before took nothing.
    """
    ours = {str(evidence.target.get(key)) for key in ("model", "model_resolved")}
    looks = list(evidence.source("health").with_value())
    last = models_loaded(looks[-1]) if looks else set()
    beside = {name for look in looks if ours & models_loaded(look) for name in models_loaded(look)}
    return "" if ours & last else plain(", ".join(sorted(last - beside)), 80)
