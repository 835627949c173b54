"""Faults in the kernel's log: which lines are one incident, what it is of, and whose. No I/O.

A device that was lost looks alike to its process whether memory ran out or the GPU hung: the lines before it
tell, and what helps differs.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.plain import clause
from soakproof.records import KernelEvent

Family = Literal["memory", "GPU", "hardware", "host"]
FAULTS = ("fatal", "fail")
COMM_LENGTH = 15  # characters of a process's name that the kernel keeps
FAILS_BEFORE_S, FAILS_AFTER_S = (
    5,
    30,
)  # of a fault: a hung GPU may break a stream late, and readings come late
SERVERS = ("llama-server", "lemonade-server", "lemonade-router", "lemond")  # where the run recorded no names
CRASH = "segfault"  # of one process, which is nobody else's matter
_MEMORY = ("oom", "cs_enomem", "kfd_mem_limit")
# Of the machine, whatever runs on it; and of its kernel.
_HARDWARE = {
    "machine_check",
    "memory_error",
    "hardware_error",
    "gpu_ecc",
    "pcie",
    "iommu",
    "disk",
    "filesystem",
    "thermal",
}
_HOST = {"hung_task", "lockup", "kernel_oops", "kernel_bug", "alloc_failed", CRASH}
_KILLED = re.compile(r"Killed process .*?anon-rss:(\d{1,18})kB")


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
    def family(self) -> Family:
        """What ran out, hung or faulted. Memory first: a GPU that is refused memory is reset as well."""
        classes = {line.fault_class for line in self.lines}
        if not classes.isdisjoint(_MEMORY):
            return "memory"
        if classes <= _HOST | {None}:
            return "host"
        return "hardware" if classes <= _HOST | _HARDWARE | {None} else "GPU"

    @property
    def is_crash(self) -> bool:
        """Whether a process crashed and nothing else happened."""
        return {line.fault_class for line in self.lines if line.severity} == {CRASH}

    @property
    def processes(self) -> tuple[tuple[str | None, int | None], ...]:
        """Names and pids that its lines tell, in their order, each once."""
        return tuple(dict.fromkeys((k.process, k.pid) for k in self.lines if k.process or k.pid))

    @property
    def killed(self) -> KernelEvent | None:
        """The line of a kill for memory."""
        return next((line for line in self.lines if _KILLED.search(line.message)), None)

    @property
    def killed_bytes(self) -> int | None:
        """Anonymous memory that the killed process held."""
        found = _KILLED.search(self.killed.message) if self.killed else None
        return int(found[1]) * 1024 if found else None

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
        """Classes with their counts, the first line, and that of a kill."""
        classes = Counter(line.fault_class or "unnamed" for line in self.lines if line.severity)
        named = ", ".join(f"{n} x {name}" for name, n in classes.most_common())
        first = next(line for line in self.lines if line.severity)
        kill = f"; {clause(self.killed.message, 200)}" if self.killed and self.killed is not first else ""
        return (
            f"{named}, {self.span[0]:.1f} to {self.span[1]:.1f} s; first: {clause(first.message, 200)}{kill}"
        )


def incidents(lines: Iterable[KernelEvent]) -> list[Incident]:
    """Lines of one incident together; a line of a fault without an incident is one of its own."""
    grouped: dict[Any, list[KernelEvent]] = {}
    for place, line in enumerate(lines):
        if line.incident is not None:
            grouped.setdefault((line.node, line.incident), []).append(line)
        elif line.severity in (*FAULTS, "warn"):
            grouped[place] = [line]
    return [Incident(group) for group in grouped.values() if any(line.severity for line in group)]


@dataclass(frozen=True)
class Servers:
    """What is known of the server's own processes."""

    pids: frozenset[int]
    names: frozenset[str]
    hurt_s: tuple[float, ...] = ()  # when one of them ended, or a request failed

    @classmethod
    def of(cls, evidence: Evidence, names: Iterable[str] = SERVERS) -> "Servers":
        """Those that the run recorded, whenever they lived, and those of these names."""
        target = evidence.target
        command = target.get("launch_command") or ()
        known = {*names, *(PurePath(str(word)).name for word in command[:1])}
        pids: set[Any] = {target.get("backend_pid")}
        for source, samples in evidence.samples.items():
            if source.startswith("process:"):
                pids |= set(samples.told("pid"))
                known |= {str(name) for name in samples.told("name") if name}
        for event in evidence.events:
            if event.what == "restart":
                pids |= {event.details.get("was_pid"), event.details.get("is_pid")}
        hurt = [e.t_ns / NS for e in evidence.events if e.what in ("restart", "vanished")]
        table = evidence.exchange_table
        hurt += table.seconds("done_ns")[table["outcome"] == "fail"].tolist()
        return cls(
            frozenset(p for p in pids if isinstance(p, int)),
            frozenset(n[:COMM_LENGTH] for n in known),
            tuple(sorted(hurt)),
        )

    def owns(self, name: str | None, pid: int | None, span: tuple[float, float]) -> bool:
        """Whether a process that the kernel names at that time is the server's.

        Of the server's name and another pid there may be a thread of its, or a second server's process: the
        first where something of this one was hurt as well.
        """
        if pid in self.pids:
            return True
        if (name or "")[:COMM_LENGTH] not in self.names:
            return False
        early, late = span[0] - FAILS_BEFORE_S, span[1] + FAILS_AFTER_S
        is_hurt = bisect_left(self.hurt_s, early) < bisect_right(self.hurt_s, late)
        return pid is None or not self.pids or is_hurt

    def namesake(self, name: str | None) -> str:
        """That a process which was not taken for the server's is called as it is; empty where it is not."""
        is_called_so = (name or "")[:COMM_LENGTH] in self.names
        return " as far as its pid tells, and nothing of the server failed then" if is_called_so else ""

    def guilty(self, incident: Incident) -> tuple[str | None, int | None, bool | None]:
        """Name and pid of the guilty process, and whether it is the server's; None where none is named.

        The first that is named made the fault, and those after it may have suffered from it. Of kills for
        memory each is a fact: the server's counts wherever it stands.
        """
        named = incident.processes
        if not named:
            return None, None, None
        ours = [process for process in named if self.owns(*process, incident.span)]
        name, pid = ours[0] if ours and incident.killed else named[0]
        return name, pid, (name, pid) in ours
