"""Who writes a folder: told in a hidden file of it, by pid and start time. No seal counts that file."""

import os
from pathlib import Path

import orjson
import psutil

from soakproof.children import is_alive
from soakproof.run.files import to_json, write_atomic
from soakproof.run.seal import is_own

_WRITER = ".writer"


def hold(folder: Path) -> None:
    """This process writes the folder from now on. Raises RecorderError where it cannot be told."""
    me = psutil.Process(os.getpid())
    write_atomic(folder / _WRITER, to_json({"pid": me.pid, "created": me.create_time()}))


def holder(folder: Path) -> int | None:
    """The pid of the process that writes the folder, as long as it is there: stopped ones are, too."""
    file = folder / _WRITER
    try:
        told = orjson.loads(file.read_bytes()) if is_own(file) else {}
        return int(told["pid"]) if is_alive(told["pid"], told["created"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def let_go(folder: Path) -> None:
    """Nobody writes the folder any more."""
    (folder / _WRITER).unlink(missing_ok=True)
