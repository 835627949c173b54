r"""Lines of the kernel log, as /dev/kmsg and the journal give them. Pure: no I/O.

    4,1004,950000048,-;amdgpu 0000:c3:00.0: ring comp_1.1.0 timeout, signaled seq=2, emitted seq=4
     SUBSYSTEM=pci

A /dev/kmsg record is ``priority,sequence,microseconds,flags;text``, then indented KEY=value lines. Bytes that
are not printable ASCII are written as ``\xNN``. The priority holds the facility (0: the kernel itself, which
no user space can claim) and the level, by which nothing is filtered: GPU resets begin at level info.
"""

import re
from dataclasses import dataclass
from typing import Any

import orjson

KERNEL = 0  # the facility
MESSAGE_LIMIT = 2000  # characters kept of one line

_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. None is what the form it came in does not tell."""

    message: str
    sequence: int | None = None
    facility: int | None = None
    level: int | None = None
    monotonic_us: int | None = None


def parse_kmsg(record: bytes) -> Line | None:
    """The line of one /dev/kmsg record; None for its KEY=value lines and for what is no record."""
    prefix, found, text = record.partition(b";")
    fields = prefix.split(b",")
    if not found or len(fields) < 3 or not all(f.isdigit() for f in fields[:3]):
        return None
    priority, sequence, microseconds = (int(f[:19]) for f in fields[:3])
    plain = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), text.rstrip(b"\n"))
    return Line(
        message=clean(plain.decode("utf-8", "replace")),
        sequence=sequence,
        facility=priority >> 3,
        level=priority & 7,
        monotonic_us=microseconds,
    )


def parse_journal(record: bytes) -> Line | None:
    """The line of one record of ``journalctl -o json``; None for what is none or has no message.

    The journal has no sequence of the kernel's: records lost before it are not seen in it.
    """
    try:
        document = orjson.loads(record)
    except orjson.JSONDecodeError:
        return None
    message = _journal_text(document.get("MESSAGE")) if isinstance(document, dict) else None
    if message is None:
        return None
    return Line(
        message=clean(message),
        facility=_number(document.get("SYSLOG_FACILITY", KERNEL)),
        level=_number(document.get("PRIORITY")),
        monotonic_us=_number(document.get("__MONOTONIC_TIMESTAMP")),
    )


def _journal_text(message: Any) -> str | None:
    """The journal writes what is not UTF-8 as a list of bytes."""
    if isinstance(message, list) and all(isinstance(b, int) and 0 <= b < 256 for b in message):
        return bytes(message).decode("utf-8", "replace")
    return message if isinstance(message, str) else None


def _number(value: Any) -> int | None:
    text = str(value)
    return int(text[:19]) if text.isascii() and text.isdigit() else None


def clean(message: str) -> str:
    """Bounded, and without control characters but the tab: some of the text is a process's to choose."""
    return _CONTROL.sub(" ", message[:MESSAGE_LIMIT]).rstrip()


class KmsgStream:
    """Joins what was read into lines and counts lost records by the gaps in the sequence."""

    def __init__(self) -> None:
        self._rest = b""
        self._sequence: int | None = None
        self._overrun = False

    def overrun(self) -> None:
        """The kernel said that records were overwritten before they were read (EPIPE)."""
        self._overrun = True

    def feed(self, data: bytes) -> list[tuple[Line, int]]:
        """Each new line with the number of records that were lost before it."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-16_384:]
        return [(line, self._lost(line)) for line in map(parse_kmsg, whole) if line]

    def _lost(self, line: Line) -> int:
        assert line.sequence is not None
        lost = 0 if self._sequence is None else max(0, line.sequence - self._sequence - 1)
        if self._overrun:  # at least one, also where the number before it is not known
            lost = max(lost, 1)
        self._sequence, self._overrun = line.sequence, False
        return lost
