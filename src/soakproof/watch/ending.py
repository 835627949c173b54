"""When the watch ends: told to, by a signal, or because its parent is gone."""

import contextlib
import os
import signal
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
        guard_lifeline(on_line=self._heard, on_end=lambda: self.end("parent gone"))

    def _heard(self, line: bytes) -> None:
        if line == b"stop":
            self.end("stop")

    def _signalled(self, number: int, _frame: Any) -> None:
        orphaned = os.getppid() != self._parent  # the kernel sends a signal at the parent's death
        self.end("parent gone" if orphaned else signal.Signals(number).name)

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
