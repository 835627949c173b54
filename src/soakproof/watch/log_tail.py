"""The end of a file that another process writes to, line by line, within bounds. Blocking.

What was in the file when it was first opened is not read. A file that is renamed, replaced or cut off is
followed; one that grows faster than it is read loses its middle, which is counted.
"""

import contextlib
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

LINE_BYTES = 2000  # kept of one line
READ_BYTES = 1 << 20  # of one look; the oldest beyond that are left out
_MARK_BYTES = 64
_FLAGS = (  # a FIFO must not block, and Windows must not change line ends
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
)


class Lines:
    """Joins pieces into lines; of a line without an end it keeps the beginning only."""

    def __init__(self) -> None:
        self._rest = b""
        self._ignored = False  # what follows up to the line's end was handed out, or its beginning is missing

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are whole now, each cut at `LINE_BYTES`."""
        first, *others = data.split(b"\n")
        if not self._ignored:
            self._rest = (self._rest + first)[:LINE_BYTES]
        if not others:
            return []
        lines = [] if self._ignored else [self._rest]
        self._rest, self._ignored = others.pop()[:LINE_BYTES], False
        return [line[:LINE_BYTES].rstrip(b"\r") for line in (*lines, *others)]

    def unfinished(self) -> list[bytes]:
        """The line that has no end yet, once: a process that died in mid-line will never write one."""
        if not self._rest:
            return []
        line, self._rest, self._ignored = self._rest, b"", True
        return [line]

    def ended(self) -> list[bytes]:
        """The last line of a file that is followed by another."""
        lines = self.unfinished()
        self._ignored = False
        return lines

    def gap(self) -> None:
        """What comes next begins in the middle of some line."""
        self._rest, self._ignored = b"", True


@dataclass(slots=True)
class Tally:
    """What was read since the beginning."""

    size_bytes: int = 0  # of the file now
    read_bytes: int = 0
    skipped_bytes: int = 0  # it grew too fast
    replaced: int = 0  # times that the file was renamed, replaced or cut off
    lines: int = 0


class Tail:
    """Follows one file. Raises OSError where it cannot be read; a later look tries again."""

    def __init__(self, path: Path, read_bytes: int = READ_BYTES) -> None:
        self.tally = Tally()
        self._path = path
        self._read_bytes = read_bytes
        self._fd: int | None = None
        self._at = 0
        self._mark = b""
        self._first = True  # a file that comes later is read from its beginning
        self._lines = Lines()

    def read(self) -> list[bytes]:
        """The lines that came since the last look."""
        if self._fd is None:
            self._open()
        was_replaced = self._was_replaced()
        lines = self._new()
        if was_replaced:
            self.close()
            self.tally.replaced += 1
            lines += self._lines.ended()
            with contextlib.suppress(OSError):  # the next look says it; these lines must not be lost
                self._open()
                lines += self._new()
        self.tally.lines += len(lines)
        return lines

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self) -> None:
        try:
            fd = os.open(self._path, _FLAGS)
        except FileNotFoundError:
            self._first = False
            raise
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "it is no regular file", str(self._path))
        self._fd, self._at = fd, os.fstat(fd).st_size if self._first else 0
        self._first = False
        self._mark = self._before()

    def _new(self) -> list[bytes]:
        assert self._fd is not None
        size = os.fstat(self._fd).st_size
        self.tally.size_bytes = size
        lines: list[bytes] = []
        if size < self._at or self._before() != self._mark:
            self._at = 0
            self.tally.replaced += 1
            lines = self._lines.ended()
        if size - self._at > self._read_bytes:
            self.tally.skipped_bytes += size - self._read_bytes - self._at
            self._at = size - self._read_bytes
            self._lines.gap()
        os.lseek(self._fd, self._at, os.SEEK_SET)
        data = os.read(self._fd, size - self._at)
        self._at += len(data)
        self._mark = self._before()
        self.tally.read_bytes += len(data)
        return lines + (self._lines.feed(data) if data else self._lines.unfinished())

    def _before(self) -> bytes:
        """The last bytes before the place that was read up to: others, where the file was written anew."""
        assert self._fd is not None
        start = max(0, self._at - _MARK_BYTES)
        os.lseek(self._fd, start, os.SEEK_SET)
        return os.read(self._fd, self._at - start)

    def _was_replaced(self) -> bool:
        """Whether another file has the name now. While none has it, the old one is read on."""
        assert self._fd is not None
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            return False
        then = os.fstat(self._fd)
        return (now.st_ino, now.st_dev) != (then.st_ino, then.st_dev)
