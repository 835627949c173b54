"""Starting and stopping the watch from another process: what a run's load uses.

Blocking, and at home under gevent: it waits by `time.sleep` and reads its pipe without blocking, so pass
``gevent.subprocess.Popen`` there. Imports neither trio nor httpx.
"""

import contextlib
import dataclasses
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

from soakproof import children
from soakproof.errors import SoakproofError
from soakproof.watch.settings import WatchConfig

LOG = "watch.log"  # what the watch had to say, beside run.json
# glibc else gives each thread that reads a source a heap of its own, and keeps all of them: a watch so grew
# from 44 to 69 MiB in two hours.
_FLAT_MEMORY = {"MALLOC_ARENA_MAX": "1"}
_READY_S = 30.0
_LOOK_S = 0.02
_TOLD = 2000  # characters of the log that an error shows


class Watch:
    """A watch that runs."""

    def __init__(self, child: "subprocess.Popen[bytes]", log: Path) -> None:
        self._child = child
        self._log = log
        self._rest = b""
        self._latest: dict[str, Any] = {}
        self.status: int | None = None  # its exit status, once it was ended; 0 means sealed
        assert child.stdout is not None
        self._output: int | None = child.stdout.fileno()
        os.set_blocking(child.stdout.fileno(), False)

    @classmethod
    def start(
        cls,
        run_path: Path,
        config: WatchConfig,
        *,
        popen: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen,
    ) -> "Watch":
        """Start it for a run and wait until it watches. Raises SoakproofError, with its own words, if not."""
        config = dataclasses.replace(config, run=str(run_path))
        command = children.python("soakproof.watch", "--config", config.to_json())
        child = children.spawn(command, log=run_path / LOG, popen=popen, environment=_FLAT_MEMORY)
        watch = cls(child, run_path / LOG)
        try:
            ready = watch._until(lambda: bool(watch.latest()), _READY_S)
        except BaseException:  # such as the load's own end, which may come in here
            watch._end()
            raise
        if not ready:
            status = watch._end()
            raise SoakproofError(f"the watch did not start (status {status}): {watch.words()}")
        return watch

    @property
    def alive(self) -> bool:
        return self._child.poll() is None

    @property
    def pid(self) -> int:
        return self._child.pid

    def latest(self) -> dict[str, Any]:
        """Its newest line, such as {t_s, available_bytes, slots_busy, incidents, fatal}."""
        *lines, self._rest = (self._rest + self._pending()).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):  # what is none of its own
                told = orjson.loads(line)
                self._latest = told if isinstance(told, dict) else self._latest
        return self._latest

    def _pending(self) -> bytes:
        """What is in the pipe now."""
        data = b""
        while self._output is not None:
            try:
                more = os.read(self._output, 1 << 16)
            except BlockingIOError:
                break
            if not more:
                break
            data += more
        return data

    def stop(self, timeout: float = 10.0) -> int:
        """Ask it to seal and end; after ``timeout`` seconds it is ended. Its exit status: 0 means sealed."""
        children.tell(self._child, "stop")
        self._until(lambda: False, timeout)
        return self._end()

    def _until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """Wait for a condition, as long as the child lives and the time lasts."""
        until = time.monotonic() + timeout
        while not condition():
            if not self.alive or time.monotonic() > until:
                return condition()
            time.sleep(_LOOK_S)
        return True

    def _end(self) -> int:
        self.status = children.end(self._child)
        assert self._child.stdout is not None
        self._output = None
        self._child.stdout.close()
        return self.status

    def words(self) -> str:
        """The end of what it said on its standard error."""
        try:
            told = self._log.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            told = ""
        return told[-_TOLD:] or f"it said nothing; see {self._log}"
