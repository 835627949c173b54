"""When the watch ends: told to, by a signal, or because its parent is gone."""

import contextlib
import os
import signal
import sys
from typing import Any

import trio

from soakproof.children import guard_lifeline


class Ending:
    """The first reason counts. It may be told from any thread and from signal handlers."""

    def __init__(self) -> None:
        self.reason = ""
        self._event = trio.Event()
        self._token: trio.lowlevel.TrioToken | None = None
        self._parent = os.getppid()

    def guard(self) -> None:
        """Listen to the lifeline and to the signals that ask a process to end."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._signalled)
        if sys.platform == "linux":  # what the kernel sends at the parent's death, and what wakes us
            signal.signal(signal.SIGCONT, self._woken)
        guard_lifeline(on_line=self._heard, on_end=lambda: self.end("parent gone"))

    def _heard(self, line: bytes) -> None:
        if line == b"stop":
            self.end("stop")

    def _signalled(self, number: int, _frame: Any) -> None:
        self.end("parent gone" if self._is_orphan() else signal.Signals(number).name)

    def _woken(self, _number: int, _frame: Any) -> None:
        if self._is_orphan():
            self.end("parent gone")

    def _is_orphan(self) -> bool:
        return os.getppid() != self._parent

    def end(self, reason: str) -> None:
        self.reason = self.reason or reason
        if self._token is not None:
            with contextlib.suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._event.set)

    async def wait(self) -> None:
        """Until there is a reason."""
        self._token = trio.lowlevel.current_trio_token()
        if self.reason:
            return
        await self._event.wait()
