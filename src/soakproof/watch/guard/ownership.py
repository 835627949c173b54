"""Which processes are the launched command's. Only sure signs count: no other may be ended. Linux only.

A guard may have children that it did not launch: those of the shell that became it, and as PID 1 of a
container all that lose their parent there. Where it had none and is not that, all below it are the command's.
"""

import os
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from soakproof.watch.guard.processes import Process, below

MARK = "SOAKPROOF_GUARD"  # set for the command: another value for each launch
_PROC = Path("/proc")

Identity = tuple[int, int]  # pid and start time


def new_mark() -> dict[str, str]:
    """What is added to the environment of a command, and inherited by all that it starts."""
    return {MARK: secrets.token_hex(16)}


class Ownership:
    """What was once seen to be the command's stays so, whatever becomes of its parents and environment."""

    def __init__(self, root: Process, mark: Mapping[str, str], *, alone: bool = False) -> None:
        """``alone``: nothing was below the guard before the launch, and nobody's orphans come to it."""
        self._alone = alone
        self._seen: set[Identity] = {_identity(root)}
        self._mark = b"".join(f"{name}={value}".encode() for name, value in mark.items())

    def see(self, processes: Sequence[Process]) -> list[Process]:
        """Those of all ``processes`` that are the command's, dead ones as well, the oldest first."""
        found = owned(processes, os.getpid(), self._seen, self._is_marked)
        self._seen = {_identity(process) for process in found}
        return sorted(found, key=_age)

    def _is_marked(self, process: Process) -> bool:
        """By its environment, which one that runs with other rights does not show; or because nobody else can
        have started it. What the guard itself runs is in the guard's session.
        """
        if self._alone and process.session != os.getsid(0):
            return True
        try:
            return self._mark in (_PROC / str(process.pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            return False


def owned(
    processes: Sequence[Process],
    guard: int,
    seen: Collection[Identity],
    is_marked: Callable[[Process], bool],
) -> list[Process]:
    """Those that were ``seen`` before or are marked below the guard, and all that comes from these: what is
    below one, or in its session, which nobody else can join. Pure but for ``is_marked``.
    """
    pids = {process.pid for process in processes if _identity(process) in seen}
    pids |= {p.pid for p in below(guard, processes) if p.pid not in pids and is_marked(p)}
    new = pids
    while new:
        sessions = {p.session for p in processes if p.pid in pids}
        new = {p.pid for p in processes if p.parent in pids or p.session in sessions} - pids
        pids |= new
    return [process for process in processes if process.pid in pids]


def _identity(process: Process) -> Identity:
    return process.pid, process.start_ticks


def _age(process: Process) -> Identity:
    return process.start_ticks, process.pid
