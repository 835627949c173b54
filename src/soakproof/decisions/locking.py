"""One writer of a file at a time, among processes that ask here: by a lock on a hidden file beside it."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from soakproof.errors import RecorderError, words

PATIENCE_S = 10.0
_PAUSE_S = 0.02


@contextlib.contextmanager
def alone(path: Path, patience_s: float = PATIENCE_S) -> Iterator[None]:
    """Hold the file while the block runs. The system lets go of it when this process ends, however it ends.

    Raises RecorderError where it cannot be held, or another process holds it for too long.
    """
    lock = path.with_name(f".{path.name}.lock")
    try:
        held = _held(lock, patience_s)
    except OSError as error:
        raise RecorderError(f"cannot write beside {path}: {words(error)}") from error
    if held is None:
        raise RecorderError(f"another process has been writing {path} for {patience_s:.0f} s: try again")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows removes no open file
            lock.unlink()
        os.close(held)


def _held(lock: Path, patience_s: float) -> int | None:
    """The open lock file, locked; None when patience ends."""
    until = time.monotonic() + patience_s
    while True:
        opened = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        if _locks(opened) and _is_there(opened, lock):
            return opened
        os.close(opened)
        if time.monotonic() > until:
            return None
        time.sleep(_PAUSE_S)


def _is_there(opened: int, lock: Path) -> bool:
    """Whether the locked file is still the one of that name: who held it before has removed it."""
    try:
        return os.path.samestat(os.fstat(opened), lock.stat())
    except FileNotFoundError:
        return False


def _locks(opened: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
