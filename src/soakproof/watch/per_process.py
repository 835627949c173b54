"""One reading of each of the target's processes, each in time by itself."""

from collections.abc import Callable, Mapping
from typing import Any

import trio

from soakproof.watch.source import BlockingReader, Reading, read_noted

Read = Callable[[int | None], tuple[dict[str, Any], str]]


class PerProcess:
    """``<name>:<role>`` for each role that a process plays; one that is gone in the meantime is an error."""

    def __init__(self, name: str, read: Read) -> None:
        """``read`` blocks; it is given a pid and returns values and a reason, or raises OSError."""
        self._name = name
        self._read = read
        self._readers: dict[str, BlockingReader] = {}

    async def readings(self, pids: Mapping[str, int | None]) -> list[Reading]:
        """Of these pids, by role; in order of the roles. None stands for the tester's own process."""
        found: list[Reading] = []
        async with trio.open_nursery() as nursery:
            for role, pid in pids.items():
                nursery.start_soon(self._look, role, pid, found)
        return sorted(found, key=lambda reading: reading.source)

    async def _look(self, role: str, pid: int | None, found: list[Reading]) -> None:
        source = f"{self._name}:{role}"
        reader = self._readers.setdefault(role, BlockingReader())
        try:
            found.append(await read_noted(source, reader, lambda: self._read(pid)))
        except ProcessGone:
            found.append(Reading(source, "error", {"pid": pid}, f"process {pid} is gone"))


class ProcessGone(Exception):
    """The process that was to be read is not there any more."""
