"""Kernel log: GPU faults, resets and out-of-memory kills, and whose they were.

A line that says "recovered" is a fault all the same. A fault of another program, or of the hardware,
contaminates the run and does not convict the server; a crash counts where it is the server's own. A log that
could not be read, or that lost lines, tells nothing good.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    clause,
    counted,
    finding,
    plain,
)
from soakproof.judge.incidents import FAULTS, SERVERS, Incident, Servers, incidents

ADVICE = {
    "memory": "memory ran out, so less context, fewer slots or a smaller prompt cache helps",
    "GPU": "the GPU or its driver failed, so look at driver, firmware and kernel",
    "hardware": "the machine itself failed, so no verdict on its software can rest on this run",
    "host": "the kernel or a process of the host failed or hung",
}


@dataclass(frozen=True)
class Kernel(Adjudicator):
    """Did the kernel log a fault of the GPU or kill a process for memory, and was it the server's?

    ``required``: without the log there is no PASS. ``warnings`` a minute of one kind of warning are a fault.
    ``servers`` are names of the server's programs besides those that the run recorded.
    """

    required: bool = False
    warnings: int = 10
    servers: tuple[str, ...] = SERVERS
    ranges = Ranges(warnings=(1, 1_000_000))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        servers = Servers.of(evidence, self.servers)
        found = incidents(evidence.kernel)
        faults = [i for i in found if self._is_fault(i, servers)]
        for number, incident in enumerate(faults, 1):
            yield self._fault(number, incident, servers)
        yield from self._gaps(evidence)
        blind = _blind(evidence)
        if blind:
            yield self._unseen(blind)
        elif not faults:
            yield self._quiet(evidence)
        warned = [i for i in found if i not in faults and i.severity == "warn"]
        if warned:
            yield self._warned(warned)

    def _is_fault(self, incident: Incident, servers: Servers) -> bool:
        if incident.is_crash and servers.guilty(incident)[2]:
            return True
        return incident.severity in FAULTS or self._too_often(incident)

    def _too_often(self, incident: Incident) -> bool:
        return incident.severity == "warn" and incident.busiest_minute >= self.warnings

    def _fault(self, number: int, incident: Incident, servers: Servers) -> Finding:
        name, pid, owned = servers.guilty(incident)
        who = f"{plain(name or 'a process', 40)}{f' (pid {pid})' if pid else ''}"
        if owned is None and incident.family == "hardware":
            outcome, fault = Outcome.INCONCLUSIVE, "host"
            whose = "of the machine, and no process's: the host was contaminated"
        elif owned is None:
            outcome, whose, fault = Outcome.FAIL, "no process is named", ""
        elif owned:
            outcome, whose, fault = Outcome.FAIL, f"of the server's own {who}", "backend"
        else:
            outcome, fault = Outcome.INCONCLUSIVE, "host"
            whose = (
                f"of {who}, which is none of the server's{servers.namesake(name)}: the host was contaminated"
            )
        return finding(
            self,
            f"incident {number}",
            outcome,
            f"A fault, {whose}: {incident.told}. In short: {ADVICE[incident.family]}.",
            figures=(
                Figure(name="lines", value=len(incident.lines), note="a lower bound: lines are rate-limited"),
                *_killed(incident),
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
                limit="no line lost",
                span=(gaps[0].t_ns / NS, gaps[-1].t_ns / NS),
                fault="host",
            )

    def _unseen(self, why: str) -> Finding:
        return finding(
            self,
            "kernel log",
            Outcome.INCONCLUSIVE,
            f"The kernel log was not seen all the time ({clause(why, 200)}): no lines is not health.",
            limit="the log is read from start to end",
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

    def _warned(self, warned: Sequence[Incident]) -> Finding:
        return finding(
            self,
            "warnings",
            Outcome.PASS,
            f"{counted(len(warned), 'incident')} of warnings, no failure by themselves; "
            f"first: {warned[0].told}. In short: {ADVICE[warned[0].family]}.",
            limit=f"fewer than {self.warnings} lines a minute",
            limit_source="policy",
            span=warned[0].span,
            critical=False,
        )


def _killed(incident: Incident) -> Iterable[Figure]:
    """What a process that was killed for memory held."""
    if incident.killed_bytes is not None:
        yield Figure(name="anonymous memory", value=round(incident.killed_bytes / 2**30, 3), unit="GiB")


def _blind(evidence: Evidence) -> str:
    """Why the log was not seen, or not all the time; empty when it was."""
    samples = evidence.source("kernel_log")
    if not samples:
        return "no source of it was recorded"
    bad = next((s for s in samples if s.state != "value"), None)
    return f"{bad.state} at {bad.t_ns / NS:.1f} s{f': {bad.reason}' if bad.reason else ''}" if bad else ""
