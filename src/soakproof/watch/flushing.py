"""Evidence reaches the disk while the run goes on: a host that is lost takes seconds of it along, not more.

Writers hand each line to the kernel, which may keep it for half a minute. The watch waits for the disk in
their place, and in a thread, so that a slow disk holds up neither the load nor the watch.
"""

import contextlib
import os
from pathlib import Path

from soakproof.watch.source import BlockingReader, HungError

EVERY_S = 5.0


class Flusher:
    """Flushes the files of every node of a run, those that have grown since the last time."""

    def __init__(self, evidence: Path) -> None:
        self._evidence = evidence
        self._sizes: dict[Path, int] = {}
        self._reader = BlockingReader(bound_s=EVERY_S)

    async def flush(self) -> None:
        """A disk that hangs or fails is left alone: writing says so where it matters."""
        with contextlib.suppress(HungError, OSError):
            await self._reader.run(self._flush)

    def _flush(self) -> None:
        for path in sorted(self._evidence.glob("*/*.jsonl")):
            size = path.stat().st_size
            if self._sizes.get(path) != size:
                if path not in self._sizes:
                    _sync(path.parent)  # that the file is there at all
                _sync(path)
                self._sizes[path] = size


def _sync(path: Path) -> None:
    """On disk when this returns, whoever wrote it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
