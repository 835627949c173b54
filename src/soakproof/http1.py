"""One HTTP/1.1 exchange's bytes: the head of a request, and a response taken apart as it arrives. No I/O.

Both drivers read with it, so that the same bytes come to the same record under gevent and under trio, however
they were split. It is as strict as RFC 9112 wants a client to be, and where the RFC leaves a choice it takes
what standard clients take. What comes after the end of an answer is not looked at.
"""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

ALWAYS = {
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": "soakproof",
    "Connection": "close",  # as the server closes it after a stream anyway
}
LONGEST_HEAD = 256 * 1024  # bytes of headers, interim ones and trailers included
_LONGEST_LINE = 16 * 1024  # bytes of a chunk's size with its extensions, and of a trailer
_MOST_DIGITS = 15  # of a length, in either base

_HEAD_END = re.compile(rb"\r?\n\r?\n")  # a lone LF ends a line as well (RFC 9112, 2.2)
_LINE_END = re.compile(rb"\r?\n")
_STATUS = re.compile(rb"HTTP/1\.[0-9] ([1-9][0-9][0-9])(?: [^\r\0]*)?")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\0]*?)[ \t]*")
_SIZE = re.compile(rb"([0-9a-fA-F]+)[ \t]*(?:;[^\r\n\0]*)?\r\n")
_SIZE_SO_FAR = re.compile(rb"[0-9a-fA-F]+[ \t]*(?:;[^\r\n\0]*)?\r?")
_BEGINNING = b"HTTP/1."


class FramingError(Exception):
    """What came is no HTTP/1.1, or says two things of where it ends."""


def post_head(url: str, headers: Mapping[str, str]) -> bytes:
    """The head of a POST of JSON, up to the number that says how long its body is."""
    parts = urlsplit(url)
    lines = {"Host": parts.netloc, "Content-Type": "application/json", **headers}
    fields = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {parts.path or '/'} HTTP/1.1\r\n{fields}Content-Length: ".encode("latin-1", "replace")


def message(head: bytes, body: bytes) -> bytes:
    """A whole request."""
    return head + str(len(body)).encode() + b"\r\n\r\n" + body


class Response:
    """Fed with what arrives; hands on the head (time, status, names in lower case to values) and the body.

    Interim responses are passed over. ``whole`` once the answer has come to its end.
    """

    def __init__(
        self,
        on_head: Callable[[int, int, Mapping[str, str]], None],
        on_body: Callable[[int, bytes], None],
    ) -> None:
        self.whole = False
        self._on_head = on_head
        self._on_body = on_body
        self._step: Callable[[int, bytes], bytes] = self._head
        self._rest = b""  # the beginning of a line
        self._lines = bytearray()  # of a head
        self._taken = 0  # bytes of heads and trailers so far
        self._left = 0  # bytes of the body, or of its chunk, that are still to come
        self._chunk_ends = False  # the line end of a chunk is due

    def feed(self, t_ns: int, data: bytes) -> None:
        """Take what arrived. Raises FramingError; after that, and once it is whole, it is over."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        while data and not self.whole:
            data = self._step(t_ns, data)

    def closed(self) -> None:
        """The peer closed the connection: the end of an answer that told no other."""
        self.whole = self.whole or self._step == self._until_closed

    # -- each step takes what it can and returns what is left for the next

    def _head(self, t_ns: int, data: bytes) -> bytes:
        searched = max(0, len(self._lines) - 3)
        self._lines += data
        if self._lines[: len(_BEGINNING)] != _BEGINNING[: len(self._lines)]:
            raise FramingError(f"not HTTP/1.1: it began with {bytes(self._lines[:40])!r}")
        end = _HEAD_END.search(self._lines, searched)
        if self._taken + (end.end() if end else len(self._lines)) > LONGEST_HEAD:
            raise FramingError(f"headers of more than {LONGEST_HEAD} bytes")
        if end is None:
            return b""
        head, rest = bytes(self._lines[: end.start()]), bytes(self._lines[end.end() :])
        self._lines.clear()
        self._taken += end.end()
        self._begin(t_ns, head)
        return rest

    def _begin(self, t_ns: int, head: bytes) -> None:
        first, *lines = _LINE_END.split(head)
        status = _STATUS.fullmatch(first)
        if status is None:
            raise FramingError(f"not a status line: {first[:80]!r}")
        code, headers = int(status[1]), _fields(lines)
        if code == 101:
            raise FramingError("another protocol was switched to, which nobody asked for")
        if code >= 200:
            self._on_head(t_ns, code, headers)
            self._frame(code, headers)

    def _frame(self, code: int, headers: Mapping[str, str]) -> None:
        """How the body's end will be known (RFC 9112, 6.3)."""
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if coding is not None and length is not None:
            raise FramingError("both Transfer-Encoding and Content-Length")
        if coding is not None and coding.lower() != "chunked":
            raise FramingError(f"a Transfer-Encoding that nobody asked for: {coding[:80]!r}")
        if code in (204, 304):
            self.whole = True
        elif coding is not None:
            self._step = self._chunks
        elif length is not None:
            self._left = _length(length)
            self._step, self.whole = self._counted, not self._left
        else:
            self._step = self._until_closed

    def _counted(self, t_ns: int, data: bytes) -> bytes:
        data = data[: self._left]
        self._left -= len(data)
        self._on_body(t_ns, data)
        self.whole = not self._left
        return b""

    def _until_closed(self, t_ns: int, data: bytes) -> bytes:
        self._on_body(t_ns, data)
        return b""

    def _chunks(self, t_ns: int, data: bytes) -> bytes:
        at = 0
        while at < len(data):
            if self._left:
                piece = data[at : at + self._left]
                at += len(piece)
                self._left -= len(piece)
                self._chunk_ends = not self._left
                self._on_body(t_ns, piece)
                continue
            if self._chunk_ends:
                end = data[at : at + 2]
                if end == b"\r":
                    break
                if end != b"\r\n":
                    raise FramingError(f"a chunk longer than its size: {end!r}")
                at, self._chunk_ends = at + 2, False
                continue
            end_of_line = data.find(b"\n", at) + 1
            if not end_of_line:
                _check_size_so_far(data[at:])
                break
            self._left, at = _size(data[at:end_of_line]), end_of_line
            if not self._left:
                self._step = self._trailers
                return data[at:]
        self._rest = data[at:]
        return b""

    def _trailers(self, _: int, data: bytes) -> bytes:
        line, end, rest = data.partition(b"\n")
        if not end:
            if len(line) > _LONGEST_LINE:
                raise FramingError(f"a trailer of more than {_LONGEST_LINE} bytes")
            self._rest = line
            return b""
        self._taken += len(line) + 1
        if self._taken > LONGEST_HEAD:
            raise FramingError(f"headers of more than {LONGEST_HEAD} bytes")
        self.whole = line in (b"", b"\r")
        return rest


def _fields(lines: list[bytes]) -> dict[str, str]:
    """Header fields; one that comes again is joined by a comma, a folded one by a space."""
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        if name and line[:1] in (b" ", b"\t"):
            found[name] += f" {line.strip().decode('latin-1')}"
            continue
        field = _FIELD.fullmatch(line)
        if field is None:
            raise FramingError(f"not a header: {line[:80]!r}")
        name, value = field[1].decode().lower(), field[2].decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def _length(told: str) -> int:
    """A Content-Length; the same one told again is as good."""
    values = {value.strip() for value in told.split(",")}
    value = values.pop()
    if values or not re.fullmatch(r"[0-9]+", value) or len(value) > _MOST_DIGITS:
        raise FramingError(f"not a Content-Length: {told[:80]!r}")
    return int(value)


def _size(line: bytes) -> int:
    size = _SIZE.fullmatch(line)
    if size is None or len(size[1]) > _MOST_DIGITS:
        raise FramingError(f"not the size of a chunk: {line[:80]!r}")
    return int(size[1], 16)


def _check_size_so_far(line: bytes) -> None:
    """What is no size is told at once: it may be all that comes."""
    if len(line) > _LONGEST_LINE or not _SIZE_SO_FAR.fullmatch(line):
        raise FramingError(f"not the size of a chunk: {line[:80]!r}")
