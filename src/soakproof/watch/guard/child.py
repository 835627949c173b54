"""The launched command: started through the shim, proven to be reachable, found again with all below it.

Linux only. The guard becomes the parent of what its child leaves behind, so that nothing of the tree is lost.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence

import trio

from soakproof.children import python
from soakproof.errors import SoakproofError
from soakproof.watch.guard.ownership import Ownership, new_mark
from soakproof.watch.guard.processes import Process, below, everything, find, send
from soakproof.watch.guard.residents import SHIM
from soakproof.watch.guard.shim import GO, HEARD, READY

_PR_SET_CHILD_SUBREAPER = 36
_INIT = 1  # whose children may be anybody's orphans
_ANSWER_S = 15.0  # a busy machine starts Python slowly


class Child:
    """The root of the tree. It has a session of its own, which a terminal's signals do not reach."""

    def __init__(self, command: Sequence[str], *, alone: bool = False) -> None:
        """Start it, and let it go once it has answered. Raises SoakproofError where it cannot be reached.

        ``alone``: see `is_alone`.
        """
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        answers, told = os.pipe()
        waits, go = os.pipe()
        mark = new_mark()
        # By this thread, which lasts: the death signal is sent at the end of the thread that started it.
        self._popen = subprocess.Popen(
            python(SHIM, str(told), str(waits), *command),
            pass_fds=(told, waits),
            start_new_session=True,
            env=os.environ | mark,
        )
        os.close(told)
        os.close(waits)
        try:
            self.process = self._prove(answers)
            self._own = Ownership(self.process, mark, alone=alone)
            os.write(go, GO)
        finally:
            os.close(answers)
            os.close(go)

    def _prove(self, answers: int) -> Process:
        """The self-test: a signal, sent as later ones are, is answered by the very process."""
        found = find(self._popen.pid) if _hear(answers) == READY else None
        if found is not None:
            send(found, signal.SIGCONT)
            if _hear(answers) == HEARD:
                return found
        self._popen.kill()
        self._popen.wait()
        raise SoakproofError("self-test: the process that was started does not answer a signal")

    @property
    def pid(self) -> int:
        return self._popen.pid

    def tree(self) -> list[Process]:
        """All that the command has started and that is there, itself first; nothing that it has not."""
        return [process for process in self._own.see(list(everything())) if not process.is_dead]

    async def wait(self) -> int:
        """Its exit code, negative for the signal that ended it."""
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):  # a kernel older than 5.3
                descriptor = os.pidfd_open(self.pid)
                try:
                    await trio.lowlevel.wait_readable(descriptor)
                finally:
                    os.close(descriptor)
                return self._reap()
        await trio.to_thread.run_sync(self._wait_unreaped, abandon_on_cancel=True)
        return self._reap()

    def _wait_unreaped(self) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def _reap(self) -> int:
        """Ask how it ended, and before that see what it leaves: until then its session is surely its own."""
        self._own.see(list(everything()))
        return self._popen.wait()

    def signal(self, number: int) -> bool:
        """Pass a signal on; False where it is gone, or has other rights by now."""
        with contextlib.suppress(PermissionError):
            return send(self.process, number)
        return False

    def look(self) -> None:
        """See what is the command's by now, and ask how those ended whose parent left them to the guard."""
        processes = list(everything())
        self._own.see(processes)
        me, session = os.getpid(), os.getsid(0)
        for process in processes:
            adopted = process.parent == me and process.pid != self.pid and process.session != session
            if adopted and process.is_dead:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)


def is_alone() -> bool:
    """Whether nothing is below this process, and nobody's orphans come to it: then all that comes to be below
    it, but for what it starts in its own session, is the command's. To be asked before anything is started.
    """
    return os.getpid() != _INIT and not below(os.getpid(), everything())


def _hear(answers: int) -> bytes:
    """One byte from the shim; nothing where none comes."""
    ready, _, _ = select.select([answers], [], [], _ANSWER_S)
    return os.read(answers, 1) if ready else b""


def is_supported() -> bool:
    return sys.platform == "linux"
