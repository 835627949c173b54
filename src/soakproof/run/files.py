"""Files written whole or not at all, and their digests."""

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from soakproof.errors import RecorderError, UsageError, words
from soakproof.records import carriable, harmless

LEAST_ROOM = 64 << 20  # bytes of disk that a run wants; half an hour of the testbed takes some 20 MiB
_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE


def write_atomic(path: Path, data: bytes) -> None:
    """Write a whole file or none of it; on disk when this returns."""
    with written_whole(path) as file:
        file.write(data)


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place, on disk, once all of it is written; else nothing stays.

    Raises RecorderError where it cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RecorderError(f"cannot write {path}: {words(error)}") from error
        raise


def check_room(folder: Path, least: int = LEAST_ROOM) -> None:
    """Raises UsageError where the disk of a folder, which need not exist yet, has fewer bytes free."""
    there = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    disk = shutil.disk_usage(there)
    if disk.total and disk.free < least:  # some file systems do not tell
        raise UsageError(
            f"no space left for a run in {folder}: {disk.free >> 20} MiB free, {least >> 20} are needed",
            "make room there, or choose another disk: --runs DIR",
        )


def to_json(document: Any) -> bytes:
    """Indented JSON with sorted keys, as every document of a run is written.

    What JSON cannot carry, in what a server said of itself say, becomes the nearest that it can.
    """
    try:
        return harmless(orjson.dumps(document, option=_OPTIONS))
    except TypeError:
        return harmless(orjson.dumps(carriable(document), option=_OPTIONS))


def digest(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
