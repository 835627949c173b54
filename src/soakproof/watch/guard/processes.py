"""Processes told by pid and start time: found below one, signalled, never mistaken for another. Linux only.

A pid that is used again belongs to a process with another start time. Where the kernel has pidfds, one is
opened before the start time is compared, and the signal goes through it: no other process can come between.
"""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from soakproof.watch.process import DEAD, stat_fields

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was there. ``start_ticks`` is since boot, so no step of the wall clock changes it."""

    pid: int
    start_ticks: int
    parent: int
    session: int
    state: str  # a letter of /proc: R, S, D and so on
    name: str

    @property
    def is_dead(self) -> bool:
        """It has ended, and its parent has not yet asked how."""
        return self.state in DEAD


def find(pid: int) -> Process | None:
    """The process of a pid, a dead one as well; None where there is none."""
    try:
        name, fields = stat_fields((_PROC / str(pid) / "stat").read_text(errors="replace"))
        return Process(
            pid=pid,
            start_ticks=int(fields[19]),
            parent=int(fields[1]),
            session=int(fields[3]),
            state=fields[0],
            name=name,
        )
    except (OSError, ValueError):  # it ended meanwhile
        return None


def everything() -> Iterator[Process]:
    """All processes that can be seen, dead ones as well."""
    for name in os.listdir(_PROC):
        if name.isdigit() and (found := find(int(name))):
            yield found


def below(root: int, processes: Iterable[Process]) -> list[Process]:
    """Those of ``processes`` that come from ``root``, without itself. Pure."""
    children: dict[int, list[Process]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        new = children.pop(waiting.pop(), [])
        found += new
        waiting += (process.pid for process in new)
    return found


def is_there(process: Process) -> bool:
    """Whether this very process is there and has not ended."""
    now = find(process.pid)
    return now is not None and now.start_ticks == process.start_ticks and not now.is_dead


def send(process: Process, number: int) -> bool:
    """Send a signal to this very process; False where it is gone. Raises PermissionError."""
    if not hasattr(os, "pidfd_open"):
        return is_there(process) and _kill(process.pid, number)
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    except PermissionError:
        raise
    except OSError:  # a kernel older than 5.3
        return is_there(process) and _kill(process.pid, number)
    try:
        if not is_there(process):
            return False
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, number)
            return True
        return False
    finally:
        os.close(descriptor)


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def command_of(pid: int) -> list[str]:
    """Its arguments; nothing for a process of the kernel's, or one that is gone."""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return []
    return [word.decode(errors="replace") for word in raw.rstrip(b"\0").split(b"\0")] if raw else []
