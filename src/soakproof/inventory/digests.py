"""SHA-256 of files that may be very large: whole where that is quick or was done before, else of the ends.

Reading 100 GiB before each soak would take minutes and push the server's own pages out of memory. Without
``whole``, a file over `AT_ONCE` bytes is digested by its first and last MiB, which tells releases of a model
apart, and not two files of which one was changed in the middle.
"""

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

from soakproof.inventory.cache import Cache

AT_ONCE = 2 << 30  # bytes that are read whole before a soak
_END = 1 << 20
_PART = 4 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")

Progress = Callable[[str, int, int], None]  # path, bytes read, bytes in all


def _silent(path: str, read: int, size: int) -> None:
    return None


class Digests:
    """Digests of files, as far as there is time. ``until`` is by time.monotonic; None is no end."""

    def __init__(
        self, cache: Cache, *, until: float | None, whole: bool = False, progress: Progress = _silent
    ) -> None:
        self._cache = cache
        self._until = until
        self._whole = whole
        self._progress = progress

    def of(self, path: str, named: str | None = None) -> dict[str, Any] | None:
        """{path, bytes, sha256, sha256_of_ends, read, …}; ``named`` is the path by which it is kept and told.

        ``read`` says what they rest on: "whole"; "kept", with ``kept_at``, of a file of the same size, time
        and inode; or "ends". None where it cannot be read, and for what is no plain file: a server may name a
        device.
        """
        try:
            if not os.path.isfile(path):  # opening a pipe would wait for whoever writes into it
                return None
            with open(path, "rb") as file:
                return self._of(file, named or os.path.realpath(path))
        except (OSError, ValueError):
            return None

    def _of(self, file: BinaryIO, name: str) -> dict[str, Any]:
        before = os.fstat(file.fileno())
        told: dict[str, Any] = {
            "path": name,
            "bytes": before.st_size,
            "sha256_of_ends": _ends(file, before.st_size),
        }
        known = self._cache.get(name, before)
        if _SHA256.fullmatch(str(known.get("sha256"))):
            return {
                **told,
                "sha256": known["sha256"],
                "read": "kept",
                "kept_at": _day(known.get("sha256_at")),
            }
        found = self._sum(file, name, before.st_size) if self._whole or before.st_size <= AT_ONCE else None
        if found is None or os.fstat(file.fileno()).st_mtime_ns != before.st_mtime_ns:
            return {**told, "read": "ends"}
        self._cache.put(name, before, {"sha256": found, "sha256_at": int(time.time())})
        return {**told, "sha256": found, "read": "whole"}

    def _sum(self, file: BinaryIO, name: str, size: int) -> str | None:
        """Of all its bytes; None when its time was over before."""
        summed, buffer, read = hashlib.sha256(), bytearray(_PART), 0
        view = memoryview(buffer)
        file.seek(0)
        _once(file, size)
        while count := file.readinto(buffer):  # type: ignore[attr-defined]
            summed.update(view[:count])
            read += count
            self._progress(name, read, size)
            if read < size and self._until is not None and time.monotonic() > self._until:
                return None
        return summed.hexdigest() if read == size else None


def rests_on(told: Mapping[str, Any], path: str) -> str:
    """How sure a file's digests are, in words; of a model in several files, by the least sure of them."""
    told = told.get("shards") or told
    if "missing" in told:
        return f"{path}, of which not every part can be read"
    count = told.get("count")
    what = f"{path} and the {count - 1} beside it" if count else path
    if told["read"] == "ends":
        return f"{what}: the first and the last MiB alone"
    if told["read"] == "kept":
        since = f" on {told['kept_at']}" if told.get("kept_at") else ""
        return f"{what}: the whole, as it was read before{since}, of the same size, time and inode"
    return f"{what}: the whole"


def _once(file: BinaryIO, size: int) -> None:
    """Tell the kernel that these pages are read once, so that a server's own stay."""
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):
            os.posix_fadvise(file.fileno(), 0, size, os.POSIX_FADV_NOREUSE)


def _ends(file: BinaryIO, size: int) -> str:
    """SHA-256 of the first and the last MiB; of a file that is no longer than a MiB, of it twice."""
    first = file.read(_END)
    file.seek(max(size - _END, 0))
    return hashlib.sha256(first + file.read(_END)).hexdigest()


def _day(seconds: object) -> str | None:
    with contextlib.suppress(OSError, OverflowError, ValueError):
        if isinstance(seconds, int):
            return time.strftime("%Y-%m-%d", time.gmtime(seconds))
    return None
