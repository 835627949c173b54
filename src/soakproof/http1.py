"""A request's head to bytes, and the bytes of one HTTP/1.1 response to a `Reading`. No I/O, no clock.

Both drivers read by this, so that a server which bends HTTP gets the same record from both. It takes what
every client takes, notes what some clients refuse, and raises for what has no meaning left.
"""

import re
from collections.abc import Callable, Mapping
from typing import Protocol
from urllib.parse import urlsplit

LONGEST_HEAD = 256 * 1024  # bytes of headers, interim ones and trailers included
LONGEST_SIZE = 4096  # bytes of the line with a chunk's size
BROKEN_OFF = "the connection closed before the answer was whole"
_UNTIL_CLOSE = 1 << 62  # bytes of a body that ends with the connection
_LF = b"\n"
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: .*)?", re.DOTALL)
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r]*)", re.DOTALL)
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)
_SIZE_BEGINS = re.compile(rb"[0-9A-Fa-f]{1,15}[ \t]*(?:;.*|\r)?", re.DOTALL)


class MalformedError(Exception):
    """What came is no HTTP/1.1 response, or no more one."""


class Taker(Protocol):
    """Who is told what came: a `soakproof.exchange.Reading`."""

    def headers(self, t_ns: int, status: int, headers: Mapping[str, str]) -> None: ...

    def body(self, t_ns: int, data: bytes) -> None: ...

    def oddity(self, name: str, detail: str = "") -> None: ...


class Address:
    """Where requests go, and the head of each. Raises ValueError for a header that holds a line's end."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self.secure = parts.scheme == "https"
        self.name = parts.hostname or ""
        self.port = parts.port or (443 if self.secure else 80)
        lines = {
            "Host": parts.netloc,
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "soakproof",
            "Connection": "close",
            **headers,
        }
        for name, value in lines.items():
            if any(c in "\r\n\0" for c in name + value):
                raise ValueError(f"a header that would break the request apart: {name!r}")
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._head = f"POST {parts.path or '/'} HTTP/1.1\r\n{head}Content-Length: ".encode(
            "latin-1", "replace"
        )

    def message(self, body: bytes) -> bytes:
        """Head and body, to leave in one write."""
        return self._head + str(len(body)).encode() + b"\r\n\r\n" + body


class ResponseReader:
    """Takes the bytes of one connection. ``whole`` once the response has come to its own end.

    Lines that end with LF alone are taken as lines; bytes after the end of the response are passed over.
    """

    def __init__(self, taker: Taker) -> None:
        self.whole = False
        self._taker = taker
        self._take = taker.body
        self._line: Callable[[bytes], None] = self._status_line
        self._tail = bytearray()  # of a line that has not ended
        self._left = 0  # bytes of the body to come before the next line
        self._chunked = False
        self._now = 0
        self._head = 0  # bytes of heads so far
        self._status = 0
        self._headers: dict[str, str] = {}
        self._last_name = ""

    def feed(self, now_ns: int, data: bytes) -> None:
        """Bytes as they arrive. Raises MalformedError; what came before that has been handed on."""
        self._now = now_ns
        at, end = 0, len(data)
        while at < end and not self.whole:
            if self._left:
                part = data[at : at + self._left]
                at += len(part)
                self._left -= len(part)
                self._take(now_ns, part)
                self.whole = not (self._left or self._chunked)
            else:
                at = self._whole_chunk(data, at) or self._next_line(data, at)

    def close(self) -> None:
        """The connection was closed, which may be the end of the body."""
        if self._left > _UNTIL_CLOSE >> 1:
            self.whole = True

    def _whole_chunk(self, data: bytes, at: int) -> int:
        """Take a chunk that came in one piece, as nearly every one does; where it ends, 0 if none did."""
        if self._line != self._chunk_size or self._tail:
            return 0
        start = data.find(b"\r\n", at, at + 8) + 2
        digits = data[at : start - 2]
        if start < 2 or not digits.isalnum():
            return 0
        try:
            end = start + int(digits, 16)
        except ValueError:
            return 0
        if end == start or data[end : end + 2] != b"\r\n":
            return 0
        self._take(self._now, data[start:end])
        return end + 2

    def _next_line(self, data: bytes, at: int) -> int:
        """Take the line that begins or goes on here; where it ends."""
        end = data.find(_LF, at)
        if end < 0:
            self._tail += data[at:]
            self._check(self._tail)
            return len(data)
        line = bytes(self._tail + data[at:end])
        self._tail.clear()
        self._check(line)
        if line.endswith(b"\r"):
            line = line[:-1]
        else:
            self._taker.oddity("bare_line_feed")
        self._line(line)
        return end + 1

    def _check(self, line: bytes | bytearray) -> None:
        """Of a line, or of what came of one so far: some are seen to be none before they end, if they do."""
        start = bytes(line[:32])
        if self._line == self._status_line:
            if not start.startswith(b"HTTP/"[: len(start)]):
                raise MalformedError(_NO_HTTP)
        elif self._line == self._chunk_size:
            if not _SIZE_BEGINS.fullmatch(start):
                raise MalformedError(_NO_SIZE)
        elif self._line == self._chunk_end and start not in (b"", b"\r"):
            raise MalformedError(_NO_CHUNK_END)
        if self._chunked and self._line != self._trailer_line:
            if len(line) > LONGEST_SIZE:
                raise MalformedError(f"the line of a chunk's size is longer than {LONGEST_SIZE} bytes")
        elif self._head + len(line) > LONGEST_HEAD:
            raise MalformedError(f"headers of more than {LONGEST_HEAD} bytes")

    # Each of these takes one line, without its end.

    def _status_line(self, line: bytes) -> None:
        found = _STATUS.fullmatch(line)
        if found is None:
            raise MalformedError(_NO_HTTP)
        self._head += len(line) + 2
        self._status, self._headers, self._last_name = int(found[1]), {}, ""
        self._line = self._header_line

    def _header_line(self, line: bytes) -> None:
        self._head += len(line) + 2
        if not line:
            self._end_of_head()
            return
        if line[:1] in (b" ", b"\t") and self._last_name:
            self._headers[self._last_name] += " " + line.decode("latin-1").strip()
            return
        found = _HEADER.fullmatch(line)
        if found is None:
            raise MalformedError("a line among the headers is none")
        name = found[1].decode().lower()
        value = found[2].decode("latin-1").rstrip(" \t")
        self._headers[name] = f"{self._headers[name]}, {value}" if name in self._headers else value
        self._last_name = name

    def _end_of_head(self) -> None:
        if self._status == 101:
            raise MalformedError("the server changes to another protocol")
        if self._status < 200:
            self._line = self._status_line
            return
        self._left = self._length()
        self._taker.headers(self._now, self._status, self._headers)
        if self._chunked:
            self._line = self._chunk_size
        else:
            self.whole = not self._left

    def _length(self) -> int:
        """Bytes of the body until its next line, or its end."""
        coding = self._headers.get("transfer-encoding", "").lower()
        length = self._headers.get("content-length")
        if self._status in (204, 304):
            return 0
        if coding not in ("", "identity", "chunked"):
            raise MalformedError(f"a transfer encoding that was not asked for: {coding[:60]}")
        if coding == "chunked":
            self._chunked = True
            if length is not None:
                self._taker.oddity("length_of_chunks", length)
            return 0
        if length is None:
            return _UNTIL_CLOSE
        lengths = {part.strip() for part in length.split(",")}
        told = lengths.pop()
        if lengths or not (told.isascii() and told.isdigit() and len(told) <= 15):
            raise MalformedError(f"no length of a body: {length[:60]}")
        return int(told)

    def _chunk_size(self, line: bytes) -> None:
        found = _SIZE.fullmatch(line)
        if found is None:
            raise MalformedError(_NO_SIZE)
        self._left = int(found[1], 16)
        self._line = self._chunk_end if self._left else self._trailer_line

    def _chunk_end(self, _: bytes) -> None:
        self._line = self._chunk_size

    def _trailer_line(self, line: bytes) -> None:
        self._head += len(line) + 2
        self.whole = not line


_NO_HTTP = "what came does not begin as an HTTP/1.1 response"
_NO_SIZE = "what stands between two chunks is no chunk's size"
_NO_CHUNK_END = "a chunk is longer than its size"
