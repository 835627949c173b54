"""Bytes of an event stream to events, as the WHATWG event stream standard says. No I/O.

Lines end with LF, CR or CRLF wherever the chunks are cut; only whole lines are decoded, so a character
that two chunks share is never broken, and nothing is looked at twice, so a line of megabytes costs
linear time. Events end with a blank line and nothing else: a server that ends its frames with a single
newline makes no event at all for any standard client, and here too. The reader then keeps what it was
given as `pending`, so that the caller can say so instead of seeing an empty answer.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

MIB = 2**20
# What a kept line costs beside its bytes: without it, a flood of short lines takes 40 times the limit.
LINE_COST = 64
_BOM = b"\xef\xbb\xbf"
_COLON = ord(":")
_LF = ord("\n")
_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class ServerSentEvent(NamedTuple):
    """One event. ``fields`` has what the standard tells a client to ignore, such as ``error``.

    The standard drops an event without data; it is handed out here when it has such fields.
    """

    event: str = ""  # its name; empty when the server gave none
    data: str = ""
    id: str | None = None  # the last id seen so far
    fields: Mapping[str, str] = _NO_FIELDS


class Comment(NamedTuple):
    """A line that begins with a colon: a heartbeat."""

    text: str


class FrameTooLargeError(Exception):
    """One line or event is larger than the limit. ``before`` has the events that came before it."""

    def __init__(self, limit: int, before: list[ServerSentEvent | Comment]) -> None:
        super().__init__(f"one event of more than {limit} bytes")
        self.before = before


class SSEReader:
    """Reads one stream. Memory: at most about ``limit`` bytes for what is not an event yet."""

    def __init__(self, limit: int = 8 * MIB) -> None:
        self.replaced = 0  # characters U+FFFD that stand for bytes which are not UTF-8
        self._limit = limit
        self._tail = bytearray()  # of the line that has not ended yet
        self._lines: list[bytes] = []  # of the event that has not ended yet
        self._held = 0
        self._id: str | None = None
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[ServerSentEvent | Comment]:
        """The events and comments that these bytes complete. Raises FrameTooLargeError."""
        if (  # nearly every chunk: one data line with its blank line, and nothing before it
            data.startswith(b"data: ")
            and data.find(b"\n") == len(data) - 2
            and data[-1] == _LF
            and len(data) <= self._limit
            and b"\r" not in data
            and not (self._tail or self._lines or self._at_start or self._after_cr)
        ):
            return [ServerSentEvent("", self._text(data[6:-2]), self._id)]
        return self._lines_of(data)

    def _lines_of(self, data: bytes) -> list[ServerSentEvent | Comment]:
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == _LF:
                data = data[1:]
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = data.split(b"\n")
        made: list[ServerSentEvent | Comment] = []
        if lines:
            lines[0] = self._first_line(lines[0], made)
            for line in lines:
                self._line(line, made)
        if rest:
            self._check(len(self._tail) + len(rest), made)
            self._tail += rest
        return made

    def pending(self, limit: int = 64 * 1024) -> bytes:
        """The first bytes of what made no event so far, with LF for each line's end."""
        return b"\n".join([*self._lines, bytes(self._tail)])[:limit]

    def close(self) -> int:
        """The number of bytes that made no event, line ends not counted. The reader is empty then."""
        left = sum(map(len, self._lines)) + len(self._tail)
        self._forget()
        return left

    def _first_line(self, line: bytes, made: list[ServerSentEvent | Comment]) -> bytes:
        """This chunk's first line end completes what earlier chunks began."""
        self._check(len(self._tail) + len(line), made)
        if self._tail:
            self._tail += line
            line = bytes(self._tail)
            self._tail.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        return line

    def _line(self, line: bytes, made: list[ServerSentEvent | Comment]) -> None:
        self._check(len(line), made)
        if not line:
            event = self._event()
            if event is not None:
                made.append(event)
        elif line[0] == _COLON:
            made.append(Comment(self._text(line[1:]).removeprefix(" ")))
        else:
            self._lines.append(line)
            self._held += len(line) + LINE_COST

    def _check(self, size: int, made: list[ServerSentEvent | Comment]) -> None:
        if size and self._held + size > self._limit:
            self._forget()
            raise FrameTooLargeError(self._limit, made)

    def _event(self) -> ServerSentEvent | None:
        """What the lines since the last blank one make, if anything."""
        lines, self._lines, self._held = self._lines, [], 0
        if len(lines) == 1 and lines[0].startswith(b"data:"):  # nearly every event
            value = lines[0][5:]
            return ServerSentEvent(data=self._text(value).removeprefix(" "), id=self._id)
        return self._fields(lines) if lines else None

    def _fields(self, lines: list[bytes]) -> ServerSentEvent | None:
        name = ""
        data: list[str] = []
        others: dict[str, str] = {}
        for line in lines:
            key, _, value = self._text(line).partition(":")
            value = value.removeprefix(" ")
            if key == "data":
                data.append(value)
            elif key == "event":
                name = value
            elif key == "id":
                self._id = value if "\0" not in value else self._id
            elif key != "retry":  # nothing here reconnects
                others[key] = value
        if not data and not others:
            return None
        return ServerSentEvent(name, "\n".join(data), self._id, others or _NO_FIELDS)

    def _text(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            text = line.decode("utf-8", "replace")
            self.replaced += text.count("\ufffd") - line.count("\ufffd".encode())
            return text

    def _forget(self) -> None:
        self._tail.clear()
        self._lines.clear()
        self._held = 0
