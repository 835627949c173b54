"""One part of a bundle as it is read: its digest, and whether it has the text that it must not have."""

import hashlib
from pathlib import PurePosixPath

from soakproof.run.bundle.archive import Member
from soakproof.run.bundle.manifest import Sum, Treatment
from soakproof.run.seal import MANIFEST
from soakproof.run.textless import LONGEST, is_bare_document, is_bare_line

_CHANGED = "there is text in it, or it is not as it was written"


class Content:
    """A part that was read once, of which at most ``limit`` bytes are held."""

    def __init__(self, member: Member, how: Treatment, limit: int) -> None:
        self.held: bytes | None = None  # None where it is longer than that
        summed, held, lines = hashlib.sha256(), bytearray(), _Lines()
        for data in member.chunks():
            summed.update(data)
            if member.size <= limit:
                held += data
            if how is Treatment.LINES:
                lines.add(data)
        if member.size <= limit:
            self.held = bytes(held)
        self._how = how
        self._sum = Sum(summed.hexdigest(), member.size)
        self._bad = lines.bad()

    def against(self, kept: Sum) -> str:
        """What is not as the manifest says; empty where all is."""
        if self._sum.size != kept.size:
            return f"changed: {kept.size} bytes by {MANIFEST}, {self._sum.size} are there"
        return "" if self._sum == kept else f"changed: its digest is not that in {MANIFEST}"

    def text(self, path: str) -> str:
        """Where there is text in what must have none; empty where there is none."""
        if self._how is Treatment.LINES and self._bad:
            return f"line {self._bad}: {_CHANGED}"
        if self._how is not Treatment.DOCUMENT:
            return ""
        bare = self.held is not None and is_bare_document(PurePosixPath(path).name, self.held)
        return "" if bare else _CHANGED


class _Lines:
    """The lines of a file of records, of which none may have text."""

    def __init__(self) -> None:
        self._left = b""
        self._number = 0
        self._first = 0

    def add(self, data: bytes) -> None:
        if self._first:
            return
        *whole, self._left = (self._left + data).split(b"\n")
        for line in whole:
            self._number += 1
            if not is_bare_line(line + b"\n"):
                self._first = self._number
                return
        if len(self._left) > LONGEST:
            self._first = self._number + 1

    def bad(self) -> int:
        """The first line that has text, or is none; 0 where there is no such line."""
        return self._first or (self._number + 1 if self._left else 0)
