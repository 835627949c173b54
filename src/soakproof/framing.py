"""What both drivers make of a response's framing where their parsers differ, so that it has one name. No I/O.

geventhttpclient's parser (llhttp) refuses some of what httpx's (h11) takes, and the other way round.
"""

import re
from collections.abc import Iterable

KEPT = 64  # bytes of a body's end, to tell it from what is none
_SIZE_SO_FAR = re.compile(rb"[0-9a-fA-F]*[ \t]*(;.*)?")
_LAST_CHUNK = re.compile(rb"\r\n0+[ \t]*(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n")


def contradiction(fields: Iterable[tuple[str, str]]) -> str:
    """What is wrong with how a head tells its body's end (RFC 9112, 6.3), in words; empty for nothing."""
    told = [(name.lower(), value.strip().lower()) for name, value in fields]
    codings = [value for name, value in told if name == "transfer-encoding"]
    if codings and any(name == "content-length" for name, _ in told):
        return "both Transfer-Encoding and Content-Length"
    if codings and codings != ["chunked"]:
        return f"a Transfer-Encoding that nobody asked for: {', '.join(codings)[:80]!r}"
    return ""


def is_garbage(tail: bytes, body_end: bytes) -> bool:
    """Whether the last bytes of a chunked answer that broke off are no part of its body or of its framing."""
    line = tail.rpartition(b"\n")[2].rstrip(b"\r")
    in_body = body_end.endswith(line) if len(line) <= len(body_end) else line.endswith(body_end or line)
    return not in_body and _SIZE_SO_FAR.fullmatch(line) is None


def is_followed(tail: bytes, body_end: bytes, *, chunked: bool) -> bool:
    """Whether more than line ends came behind a whole response, of whose connection this is the end."""
    if chunked:
        last = _LAST_CHUNK.search(tail)
        more = tail[last.end() :] if last else b""
    else:
        more = tail.rpartition(body_end)[2] if body_end else b""
    return bool(more.strip(b"\r\n"))


class LineEnds:
    """Ends the lines of heads by CRLF where a lone LF did, which a client may read (RFC 9112, 2.2).

    ``over`` once the last head is; bodies are left as they are.
    """

    def __init__(self) -> None:
        self.over = False
        self._first = b""  # of a head: enough to tell an interim one, which another head follows
        self._length = 0  # of the line so far
        self._after_cr = False

    def feed(self, data: bytes) -> bytes:
        """The same bytes, with the line ends of heads made whole."""
        done = bytearray()
        while data and not self.over:
            line, end, data = data.partition(b"\n")
            self._first = (self._first + line)[:10]
            self._length += len(line)
            self._after_cr = line.endswith(b"\r") if line else self._after_cr
            done += line
            if end:
                done += b"\n" if self._after_cr else b"\r\n"
                self._end_line()
        return bytes(done) + data

    def _end_line(self) -> None:
        if self._length == self._after_cr:  # nothing but its end
            self.over = self._first[9:] != b"1"
            self._first = b""
        self._length, self._after_cr = 0, False
