"""Digests and headers that were read before, by path, size, time and inode, in one small file a user.

Nothing depends on it: one that is missing, corrupt or cannot be written is an empty one. The file is
``soakproof/inventory.json`` in ``$XDG_CACHE_HOME``, else in ``~/.cache``; ``SOAKPROOF_CACHE`` names another
folder for it.
"""

import contextlib
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from soakproof.nesting import bounded

FOLDER = "SOAKPROOF_CACHE"
_NAME = "inventory.json"
_FORMAT = 1
_MOST = 200  # files; the ones that were kept first are dropped
_LARGEST = 8 << 20  # bytes of the cache that are read
_SETTLED_NS = (
    2 * 10**9
)  # a file that was written later than so long ago may be written again in the same tick


def folder() -> Path:
    """Where the cache is kept."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "soakproof"


class Cache:
    """What is known of files. Blocking; several processes may write, and the last one wins."""

    def __init__(self, where: Path) -> None:
        self._file = where / _NAME
        self._known = _read(self._file)
        self._new: dict[str, Any] = {}

    def get(self, path: str, found: os.stat_result) -> dict[str, Any]:
        """What was kept of this very file; empty for any other."""
        known = self._known.get(path)
        if not isinstance(known, dict) or known.get("of") != _stamp(found):
            return {}
        told = known.get("told")
        return dict(told) if isinstance(told, dict) else {}

    def put(self, path: str, found: os.stat_result, told: Mapping[str, Any]) -> None:
        """Keep this too of a file, unless it was written only just now."""
        now = time.time()
        if int(now * 1e9) - found.st_mtime_ns < _SETTLED_NS:
            return
        told = {**self.get(path, found), **told}
        self._known[path] = self._new[path] = {"of": _stamp(found), "kept_at": int(now), "told": told}
        self._save()

    def _save(self) -> None:
        others = _read(self._file)  # which another process may have written meanwhile
        newest = sorted({**others, **self._new}.items(), key=_kept_at, reverse=True)[:_MOST]
        with contextlib.suppress(OSError, ValueError, TypeError):
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=_NAME)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(orjson.dumps({"format": _FORMAT, "files": dict(newest)}))
                os.replace(name, self._file)
            except BaseException:
                os.unlink(name)
                raise


def _stamp(found: os.stat_result) -> list[int]:
    return [found.st_size, found.st_mtime_ns, found.st_ino, found.st_dev]


def _kept_at(item: tuple[str, Any]) -> int:
    at = item[1].get("kept_at") if isinstance(item[1], dict) else None
    return at if isinstance(at, int) else 0


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            document = bounded(orjson.loads(opened.read(_LARGEST)))
    except (OSError, ValueError):
        return {}
    files = (
        document.get("files") if isinstance(document, dict) and document.get("format") == _FORMAT else None
    )
    return files if isinstance(files, dict) else {}
