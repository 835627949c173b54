"""What the watch saw happen to the server when a request failed: its cause, as far as one was seen. No I/O.

A victim is told apart from what befell it: a kill for memory, a fault of the GPU, a model that was evicted,
a process that was gone. What happened at the same time is likely the cause; it is not proof.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from soakproof.clock import NS
from soakproof.failures import VICTIMS
from soakproof.judge.evidence import Evidence
from soakproof.judge.gone import by_guard, guard_acted_ns, is_front
from soakproof.judge.incidents import (
    FAILS_AFTER_S,
    FAILS_BEFORE_S,
    FAULTS,
    Incident,
    Servers,
    incidents,
)
from soakproof.judge.series import models_loaded
from soakproof.plain import plain
from soakproof.records import Event, Exchange, Failure, Sample

TOGETHER_S = 2  # within which two processes ended of one cause
_OF_THE_FRONT = (Failure.CONNECT, Failure.RESET)  # connections to it, which a backend's end leaves standing
_KERNEL = {
    "memory": "memory ran out",
    "GPU": "the GPU hung or faulted",
    "hardware": "the machine's hardware failed",
    "host": "the kernel or a process of the host failed or hung",
}


@dataclass(frozen=True)
class Cause:
    """What was seen; ``host``: somebody else's doing, for which the server is not to blame."""

    told: str
    host: bool = False


@dataclass(frozen=True)
class Causes:
    """A run's events, kernel lines and health, to ask for the cause of a failure."""

    evidence: Evidence

    def of(self, exchange: Exchange) -> Cause | None:
        """The gravest that was seen; None where nothing was, or where none is needed."""
        if exchange.failure not in VICTIMS:
            return None
        return (
            self._kernel(exchange)
            or self._guarded(exchange)
            or self._evicted(exchange)
            or self.gone(exchange)
        )

    @cached_property
    def _guard_ns(self) -> int | None:
        return guard_acted_ns(self.evidence)

    @cached_property
    def _faults(self) -> list[tuple[Incident, Cause]]:
        """Incidents with what they mean, those of memory first."""
        servers = Servers.of(self.evidence)
        found = [i for i in incidents(self.evidence.kernel) if i.severity in FAULTS or i.family == "memory"]
        told = []
        for incident in sorted(found, key=lambda i: i.family != "memory"):
            name, _, owned = servers.guilty(incident)
            whose = f", of {plain(name or 'another process', 40)}" if owned is False else ""
            what = f"when {_KERNEL[incident.family]} (kernel log at {incident.span[0]:.1f} s{whose})"
            others = owned is False and incident.family == "GPU"
            told.append((incident, Cause(what, host=others or incident.family == "hardware")))
        return told

    def _kernel(self, exchange: Exchange) -> Cause | None:
        return next((c for i, c in self._faults if any(_near(k.t_ns, exchange) for k in i.lines)), None)

    def _guarded(self, exchange: Exchange) -> Cause | None:
        began = self._guard_ns
        if began is None or exchange.done_ns < began:
            return None
        return Cause(f"after the guard had begun to end the server (at {began / NS:.1f} s)", host=True)

    def _evicted(self, exchange: Exchange) -> Cause | None:
        """Whether another model took the place of this request's, by the front's own list."""
        model = self._resolved(exchange.model_asked)
        before, after = _around(self._loaded, exchange.done_ns)
        if before is None or after is None:
            return None
        was, now = models_loaded(before), models_loaded(after)
        came = sorted(now - was)
        if model not in was or model in now or not came:
            return None
        others = plain(", ".join(came), 80)
        return Cause(f"cut by an eviction ({others} was loaded in place of {plain(model, 80)})")

    def gone(self, exchange: Exchange) -> Cause | None:
        """A process of the server's that had ended, of a failure that this can be the cause of."""
        if exchange.failure not in VICTIMS:
            return None
        ends = [event for event, back_ns in self._endings if _explains(event, back_ns, exchange)]
        if not ends:
            return None
        event = ends[0]
        if exchange.failure in _OF_THE_FRONT:
            event = next((e for e in ends if is_front(e) and _with(e, event, exchange)), event)
        role = plain(event.details.get("role") or "process", 40)
        return Cause(f"when the server's {role} had ended (seen at {event.t_ns / NS:.1f} s)")

    @cached_property
    def _endings(self) -> list[tuple[Event, int | None]]:
        """Processes that ended, each with when a request sent after that was first answered, if one was."""
        answered = self.evidence.exchange_table
        answered = answered.where(answered["outcome"] == "ok")
        sent, done = answered["sent_ns"], answered["done_ns"]
        return [
            (event, min(done[sent >= event.t_ns].tolist(), default=None))
            for event in self.evidence.events
            if event.what in ("vanished", "restart") and not by_guard(self.evidence, event)
        ]

    @cached_property
    def _loaded(self) -> list[Sample]:
        return [s for s in self.evidence.source("health") if s.values.get("models_loaded")]

    def _resolved(self, asked: str) -> str:
        target = self.evidence.target
        return str(target.get("model_resolved") or asked) if asked == target.get("model") else asked


def _explains(end: Event, back_ns: int | None, exchange: Exchange) -> bool:
    """Whether a process was down when the request failed, or ended just then."""
    down = end.t_ns <= exchange.done_ns and (back_ns is None or exchange.done_ns < back_ns)
    return down or _near(end.t_ns, exchange, before_s=FAILS_BEFORE_S)


def _with(end: Event, first: Event, exchange: Exchange) -> bool:
    """Whether a process had ended before the request did, or was seen to end together with the first."""
    return end.t_ns <= exchange.done_ns or abs(end.t_ns - first.t_ns) <= TOGETHER_S * NS


def _near(t_ns: int, exchange: Exchange, before_s: float = FAILS_AFTER_S) -> bool:
    """Whether something happened shortly before the request's end, or just after it as readings tell."""
    is_near = -before_s * NS <= t_ns - exchange.done_ns <= FAILS_BEFORE_S * NS
    return is_near and t_ns >= exchange.sent_ns - FAILS_BEFORE_S * NS


def _around(samples: Iterable[Sample], at_ns: int) -> tuple[Sample | None, Sample | None]:
    """The last sample before a time, and the first after it."""
    before, after = None, None
    for sample in samples:
        if sample.t_ns > at_ns:
            after = sample
            break
        before = sample
    return before, after
