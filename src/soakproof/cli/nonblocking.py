"""Standard error for a command that must never wait for whoever reads it, such as a guard.

A thread writes, and may wait. The descriptor itself stays as it was: its flags are those of a child that
inherits it, too.
"""

import contextlib
import io
import os
import queue
import select
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

_LINES = 200  # that wait to be read; what comes on top of these is lost
_AT_END_S = 0.5  # for a reader that reads
_LOOK_S = 0.01


class NonblockingText(io.TextIOBase):
    """Takes the place of a text stream with a descriptor; what is written there by others does not wait."""

    def __init__(self, stream: TextIO) -> None:
        """Raises OSError or ValueError for a stream without a descriptor."""
        self._descriptor = stream.fileno()
        self._encoding = stream.encoding
        self._isatty = stream.isatty()
        self._lines: queue.Queue[bytes] = queue.Queue(_LINES)
        self._text = ""
        threading.Thread(target=self._write_all, daemon=True).start()

    def isatty(self) -> bool:
        return self._isatty

    def write(self, text: str) -> int:
        self._text += text
        if text.endswith("\n"):
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Hand on what was written; it is not waited for."""
        text, self._text = self._text, ""
        if text:
            with contextlib.suppress(queue.Full):
                self._lines.put_nowait(text.encode(self._encoding, "backslashreplace"))

    def drain(self) -> None:
        """Leave a reader the time to read the last lines, which is half a second at most."""
        self.flush()
        until = time.monotonic() + _AT_END_S
        while self._lines.unfinished_tasks and time.monotonic() < until:
            time.sleep(_LOOK_S)

    def _write_all(self) -> None:
        while True:
            line = self._lines.get()
            with contextlib.suppress(OSError):  # nobody reads any more
                self._write(line)
            self._lines.task_done()

    def _write(self, line: bytes) -> None:
        while line:
            try:
                line = line[os.write(self._descriptor, line) :]
            except BlockingIOError:  # somebody who shares it has made it so
                select.select((), (self._descriptor,), ())


@contextlib.contextmanager
def nonblocking_stderr() -> Iterator[None]:
    """Nothing that is written to sys.stderr within waits for its reader."""
    before = sys.stderr
    try:
        stream = NonblockingText(before)
    except (AttributeError, OSError, ValueError):  # it was closed, or is no file
        yield
        return
    before.flush()
    sys.stderr = stream
    try:
        yield
    finally:
        sys.stderr = before
        stream.drain()
