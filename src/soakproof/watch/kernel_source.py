"""The kernel's log from now on: /dev/kmsg, else the journal, else a state that says what to do.

What was logged before the watch opened it does not count. No lines is not health: some hangs never log.
"""

import contextlib
import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Protocol

import trio

from soakproof.watch.kernel_log import KmsgStream, Line, parse_journal
from soakproof.watch.source import Reading, refusal

NAME = "kernel_log"
JOURNAL = ("journalctl", "--dmesg", "--follow", "--lines=1", "--output=json", "--no-pager")
_RECORD_BYTES = 8192  # the longest record; a shorter buffer is refused
_BATCH = 500  # records read before others get their turn
_KMSG = (1, 11)  # the device's numbers
_POLL_S = 0.2  # where waiting for the file is not possible
_JOURNAL_BOUND_S = 3.0
_WHAT_TO_DO = (
    "run as root, or allow it with `sysctl kernel.dmesg_restrict=0`, or join the group systemd-journal; "
    "in a container add --cap-add SYSLOG --device /dev/kmsg"
)


class KernelLog(Protocol):
    """An open log."""

    async def next(self) -> Sequence[tuple[Line, int]]:
        """The next lines, at least one, each with the number of records lost before it.

        Raises OSError for a failed read, EOFError when there will be no more.
        """
        ...

    def close(self) -> None: ...


class Kmsg:
    """/dev/kmsg, or a file in its format. One read gives one record; reading never blocks."""

    def __init__(self, path: str) -> None:
        """Opens it at its end. Raises OSError."""
        self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        at = os.fstat(self._fd)
        if stat.S_ISCHR(at.st_mode) and (os.major(at.st_rdev), os.minor(at.st_rdev)) != _KMSG:
            os.close(self._fd)
            raise OSError(errno.ENODEV, "it is another device, such as a container puts there", path)
        with contextlib.suppress(OSError):  # a FIFO has no end to go to
            os.lseek(self._fd, 0, os.SEEK_END)
        self._stream = KmsgStream()
        self._can_wait = True

    async def next(self) -> Sequence[tuple[Line, int]]:
        while True:
            await self._wait()
            lines = self._drain()
            if lines:
                return lines

    async def _wait(self) -> None:
        if self._can_wait:
            try:
                await trio.lowlevel.wait_readable(self._fd)
                return
            except OSError:  # a plain file
                self._can_wait = False
        await trio.sleep(_POLL_S)

    def _drain(self) -> list[tuple[Line, int]]:
        lines: list[tuple[Line, int]] = []
        for _ in range(_BATCH):
            try:
                data = os.read(self._fd, _RECORD_BYTES)
            except BlockingIOError:
                break
            except BrokenPipeError:
                self._stream.overrun()
                continue
            if not data:  # the end of a plain file, or a FIFO without a writer: always readable
                self._can_wait = False
                break
            lines += self._stream.feed(data)
        return lines

    def close(self) -> None:
        os.close(self._fd)


class Journal:
    """journalctl, following the kernel's records."""

    def __init__(self, command: Sequence[str]) -> None:
        """Starts it. Raises OSError."""
        self._since_us = time.monotonic_ns() // 1000
        # It ends by itself once nobody reads its output, so it outlives no watch, however that ends.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        self._output = trio.lowlevel.FdStream(os.dup(self._process.stdout.fileno()))
        self._process.stdout.close()
        self._rest = b""
        self._early: list[Line] = []  # what came with the line that proved it readable

    async def is_readable(self) -> bool:
        """Whether it shows the kernel's records: the newest one of this boot comes at once if it does."""
        with trio.move_on_after(_JOURNAL_BOUND_S), contextlib.suppress(EOFError, OSError):
            while not self._early:
                self._early = await self._lines()
            return True
        return False

    async def next(self) -> Sequence[tuple[Line, int]]:
        while True:
            lines, self._early = self._early or await self._lines(), []
            new = [(line, 0) for line in lines if (line.monotonic_us or self._since_us) >= self._since_us]
            if new:
                return new

    async def _lines(self) -> list[Line]:
        data = await self._output.receive_some(1 << 16)
        if not data:
            raise EOFError("journalctl has ended")
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [line for line in map(parse_journal, whole) if line]

    def close(self) -> None:
        self._output.close()
        self._process.kill()
        self._process.wait()


async def open_kernel_log(path: str, journal: Sequence[str] = JOURNAL) -> tuple[KernelLog | None, Reading]:
    """The best log there is and the state of this source; None when the kernel cannot be heard."""
    if sys.platform != "linux":
        return None, Reading(NAME, "unsupported", reason="only Linux's kernel log is read")
    try:
        return Kmsg(path), Reading(NAME, values={"via": path})
    except OSError as error:
        _, reason = refusal(error)
    try:
        log = Journal(journal)
    except OSError as error:
        return None, Reading(NAME, "denied", reason=f"{reason}; {refusal(error)[1]}. {_WHAT_TO_DO}")
    if await log.is_readable():
        return log, Reading(NAME, values={"via": journal[0], "gaps": "not visible"}, reason=reason)
    log.close()
    return None, Reading(
        NAME, "denied", reason=f"{reason}; {journal[0]} shows no kernel records. {_WHAT_TO_DO}"
    )
