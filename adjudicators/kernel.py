"""Kernel log: GPU faults, resets and out-of-memory kills, and whose they were.

A line that says "recovered" is a fault all the same. A fault of another program contaminates the run and
does not convict the server. A log that could not be read, or that lost lines, tells nothing good.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from soakproof.judge import NS, Adjudicator, Evidence, Figure, Finding, Outcome, counted, finding, plain
from soakproof.records import KernelEvent

FAULTS = ("fatal", "fail")
COMM_LENGTH = 15  # characters of a process's name that the kernel keeps


@dataclass(frozen=True)
class Incident:
    """Lines of one fault, in order."""

    lines: Sequence[KernelEvent]

    @property
    def severity(self) -> str | None:
        """The worst of its lines' severities."""
        there = {line.severity for line in self.lines}
        return next((s for s in (*FAULTS, "warn") if s in there), None)

    @property
    def process(self) -> tuple[str | None, int | None]:
        """The guilty process's name and pid, where a line names it."""
        named = [line for line in self.lines if line.process or line.pid]
        return (named[-1].process, named[-1].pid) if named else (None, None)

    @property
    def span(self) -> tuple[float, float]:
        return self.lines[0].t_ns / NS, self.lines[-1].t_ns / NS

    @property
    def busiest_minute(self) -> int:
        """The most lines that fell into any 60 s."""
        times = [line.t_ns for line in self.lines]
        return max(sum(start <= t < start + 60 * NS for t in times) for start in times)

    @property
    def told(self) -> str:
        """Classes with their counts, and the first line."""
        classes = Counter(line.fault_class or "unnamed" for line in self.lines if line.severity)
        named = ", ".join(f"{n} x {name}" for name, n in classes.most_common())
        first = next(line for line in self.lines if line.severity)
        return f"{named}, {self.span[0]:.1f} to {self.span[1]:.1f} s; first: {plain(first.message, 200)}"


@dataclass(frozen=True)
class Servers:
    """What is known of the server's own processes."""

    pids: frozenset[int]
    names: frozenset[str]

    def owns(self, name: str | None, pid: int | None) -> bool | None:
        """Whether a process is the server's; None where the log does not name one."""
        if name is None and pid is None:
            return None
        return pid in self.pids or (name or "")[:COMM_LENGTH] in self.names


@dataclass(frozen=True)
class Kernel(Adjudicator):
    """Did the kernel log a fault of the GPU or kill a process for memory, and was it the server's?

    ``required``: without the log there is no PASS. ``warnings`` a minute of one kind of warning are a fault.
    ``servers`` are names of the server's programs besides those that the run recorded.
    """

    required: bool = False
    warnings: int = 10
    servers: tuple[str, ...] = ("llama-server", "lemonade-server", "lemonade-router", "lemond")

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        servers = self._servers(evidence)
        incidents = _incidents(evidence.kernel)
        faults = [i for i in incidents if i.severity in FAULTS or self._too_often(i)]
        for number, incident in enumerate(faults, 1):
            yield self._fault(number, incident, servers)
        yield from self._gaps(evidence)
        blind = _blind(evidence)
        if blind:
            yield self._unseen(blind)
        elif not faults:
            yield self._quiet(evidence)
        warned = [i for i in incidents if i not in faults and i.severity == "warn"]
        if warned:
            yield self._warned(warned)

    def _too_often(self, incident: Incident) -> bool:
        return incident.severity == "warn" and incident.busiest_minute >= self.warnings

    def _servers(self, evidence: Evidence) -> Servers:
        target = evidence.target
        command = target.get("launch_command") or ()
        names = {*self.servers, *(PurePath(str(word)).name for word in command[:1])}
        pids: set[Any] = {target.get("backend_pid")}
        for source, samples in evidence.samples.items():
            if source.startswith("process:"):
                pids |= {s.values.get("pid") for s in samples}
                names |= {str(s.values["name"]) for s in samples if s.values.get("name")}
        for event in evidence.events:
            if event.what == "restart":
                pids |= {event.details.get("was_pid"), event.details.get("is_pid")}
        known = frozenset(p for p in pids if isinstance(p, int))
        return Servers(known, frozenset(name[:COMM_LENGTH] for name in names))

    def _fault(self, number: int, incident: Incident, servers: Servers) -> Finding:
        name, pid = incident.process
        owned = servers.owns(name, pid)
        who = f"{plain(name or 'a process', 40)}{f' (pid {pid})' if pid else ''}"
        if owned is None:
            outcome, whose, fault = Outcome.FAIL, "no process is named", ""
        elif owned:
            outcome, whose, fault = Outcome.FAIL, f"of the server's own {who}", "backend"
        else:
            outcome, fault = Outcome.INCONCLUSIVE, "host"
            whose = f"of {who}, which is none of the server's: the host was contaminated"
        return finding(
            self,
            f"incident {number}",
            outcome,
            f"A fault, {whose}: {incident.told}.",
            figures=(
                Figure(name="lines", value=len(incident.lines), note="a lower bound: lines are rate-limited"),
            ),
            limit="no fault",
            limit_source="policy",
            span=incident.span,
            fault=fault,
        )

    def _gaps(self, evidence: Evidence) -> Iterable[Finding]:
        """A log that overflowed was full of something: what, nobody has seen."""
        gaps = [line for line in evidence.kernel if line.gap]
        if gaps:
            yield finding(
                self,
                "gaps",
                Outcome.INCONCLUSIVE,
                f"At least {sum(g.gap for g in gaps)} lines of the kernel log were lost, "
                f"first before {gaps[0].t_ns / NS:.1f} s.",
                figures=(Figure(name="gaps", value=len(gaps)),),
                span=(gaps[0].t_ns / NS, gaps[-1].t_ns / NS),
                fault="host",
            )

    def _unseen(self, why: str) -> Finding:
        return finding(
            self,
            "kernel log",
            Outcome.INCONCLUSIVE,
            f"The kernel log was not seen all the time ({plain(why, 200)}): no lines is not health.",
            limit="the log is read from start to end" if self.required else "",
            limit_source="policy" if self.required else "",
            critical=self.required,
        )

    def _quiet(self, evidence: Evidence) -> Finding:
        return finding(
            self,
            "kernel log",
            Outcome.PASS,
            f"No fault in {counted(len(evidence.kernel), 'line')} that the log gained.",
            figures=(Figure(name="lines", value=len(evidence.kernel)),),
            limit="no fault",
            limit_source="policy",
            strength="some GPU hangs leave no line",
        )

    def _warned(self, incidents: Sequence[Incident]) -> Finding:
        return finding(
            self,
            "warnings",
            Outcome.PASS,
            f"{counted(len(incidents), 'incident')} of warnings, no failure by themselves; "
            f"first: {incidents[0].told}.",
            limit=f"fewer than {self.warnings} lines a minute",
            limit_source="policy",
            span=incidents[0].span,
            critical=False,
        )


def _incidents(lines: Iterable[KernelEvent]) -> list[Incident]:
    """Lines of one incident together; a line of a fault without an incident is one of its own."""
    grouped: dict[Any, list[KernelEvent]] = {}
    for place, line in enumerate(lines):
        if line.incident is not None:
            grouped.setdefault((line.node, line.incident), []).append(line)
        elif line.severity in (*FAULTS, "warn"):
            grouped[place] = [line]
    return [Incident(group) for group in grouped.values() if any(line.severity for line in group)]


def _blind(evidence: Evidence) -> str:
    """Why the log was not seen, or not all the time; empty when it was."""
    samples = evidence.samples.get("kernel_log", ())
    if not samples:
        return "no source of it was recorded"
    bad = next((s for s in samples if s.state != "value"), None)
    return f"{bad.state} at {bad.t_ns / NS:.1f} s{f': {bad.reason}' if bad.reason else ''}" if bad else ""
