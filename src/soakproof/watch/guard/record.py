"""A guard's own record: a sealed directory shaped like a run's, with one node, `guard`.

A disk that is full must not end a guard: what cannot be written is said once, and the guard goes on. Nor does
it ever wait for a disk: `flush` does, in a thread.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import trio

from soakproof.clock import NS, RunClock
from soakproof.errors import RecorderError
from soakproof.host import boot_id, describe_host, describe_versions
from soakproof.redaction import without_options
from soakproof.run import Run
from soakproof.watch.flushing import EVERY_S, Flusher
from soakproof.watch.guard.limits import Limits
from soakproof.watch.incidents import Incidents
from soakproof.watch.kernel_log import Line
from soakproof.watch.recorder import Recorder
from soakproof.watch.source import Reading

NODE = "guard"
_EVERY_NS = 60 * NS  # between two samples that are kept while nothing happens


class Record:
    """Written from before the launch until after the end."""

    def __init__(
        self,
        runs: Path,
        clock: RunClock,
        command: Sequence[str],
        limits: Limits,
        say: Callable[[str], None],
    ) -> None:
        """Raises UsageError where ``runs`` cannot be written."""
        self._clock = clock
        self._say = say
        self._is_broken = False
        self._next_ns = 0
        document = {
            "format": 1,
            "kind": "guard",
            "program": describe_versions()["soakproof"],
            "state": "running",
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "zero_ns": clock.zero_ns,
            "boot_id": boot_id(),
            "host": describe_host(),
            "versions": describe_versions(),
            "guard": {"command": without_options(list(command)), "limits": limits.described()},
        }
        self._run = Run.create(runs, "guard", document)
        writer = self._run.writer(NODE)
        self._recorder = Recorder(writer, clock)
        self._flusher = Flusher(writer.folder.parent)

    @property
    def path(self) -> Path:
        return self._run.path

    @property
    def incidents(self) -> Incidents:
        """Of the kernel's log, as far as it was handed in."""
        return self._recorder.incidents

    def event(self, what: str, **details: Any) -> None:
        """Something that the guard did or met."""
        self._try(lambda: self._recorder.event(what, details))

    def sample(self, values: Mapping[str, Any]) -> None:
        """What is known now; one a minute is kept."""
        now = self._clock.now()
        if now >= self._next_ns:
            self._next_ns = now + _EVERY_NS
            self._try(lambda: self._recorder.state_of(Reading("guard", values={**values})))

    def kernel_state(self, state: Reading) -> None:
        self._try(lambda: self._recorder.state_of(state))

    def kernel(self, lines: Sequence[tuple[Line, int]]) -> None:
        """Lines of the kernel's log, which count whether or not they can be written."""
        self._try(lambda: self._recorder.kernel(lines, sync=False))

    async def flush(self) -> None:
        """Wait for the disk, in a thread, every few seconds; without end."""
        while True:
            await trio.sleep(EVERY_S)
            await self._flusher.flush()

    def seal(self, why: str, reason: str, exit_code: int) -> None:
        """Nothing is written any more."""
        ended = {"why": why, "reason": reason}
        self._run.document.update(state="ended", ended=ended, ended_ns=self._clock.now())
        outcome = "clean" if why == "ended" else "failed" if why == "tripped" else "error"
        self._try(
            lambda: self._run.seal({"outcome": outcome, "exit_code": exit_code, "ended": ended}), always=True
        )

    def _try(self, write: Callable[[], None], *, always: bool = False) -> None:
        if self._is_broken and not always:
            return
        try:
            write()
        except (RecorderError, OSError) as error:
            if not self._is_broken:
                self._say(f"{error}; the guard goes on without its record")
            self._is_broken = True
