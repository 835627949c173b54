"""Streams that are counted: what goes into an archive, or comes out of one, with its size and its SHA-256."""

import hashlib
from typing import IO

from soakproof.errors import RecorderError, words

CHUNK = 1 << 20  # bytes that are held of a file at a time


class Writing:
    """What was written."""

    def __init__(self, to: IO[bytes]) -> None:
        self._to = to
        self._summed = hashlib.sha256()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Raises RecorderError where it cannot be written."""
        try:
            self._to.write(data)
        except OSError as error:
            raise RecorderError(f"cannot write the bundle: {words(error)}") from error
        self._summed.update(data)
        self.size += len(data)

    @property
    def sha256(self) -> str:
        return self._summed.hexdigest()


class Reading:
    """What was read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._summed = hashlib.sha256()
        self.size = 0

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self._summed.update(data)
        self.size += len(data)
        return data

    def exactly(self, size: int) -> bytes:
        """So many bytes, or what there is of them before the end: a pipe gives them in pieces."""
        data = b""
        while len(data) < size and (more := self.read(size - len(data))):
            data += more
        return data

    def finish(self) -> None:
        """Read what is left, so that it counts."""
        while self.read(CHUNK):
            pass

    @property
    def sha256(self) -> str:
        return self._summed.hexdigest()
