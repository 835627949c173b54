"""What the processes below a server's own hold: a llama-server that serves each model by a child, a wrapper.

A look through every process costs some milliseconds, so it is taken every few seconds: a child that lives
shorter may not be seen.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from soakproof.watch.process import ProcessState, read_parents
from soakproof.watch.source import BlockingReader, HungError

EVERY_S = 5.0
LIMIT = 32  # of one process
_SUMMED = ("rss_bytes", "rss_anon_bytes", "swap_bytes", "fds", "threads", "cpu_seconds")


class Descendants:
    """The pids below each process, as the last look through all of them found."""

    def __init__(self, proc_root: Path) -> None:
        self._root = proc_root
        self._reader = BlockingReader()
        self._children: Mapping[int, Sequence[int]] = {}
        self._next_look = 0.0

    async def look(self) -> None:
        """Look again, where it is time. What cannot be read leaves what was found before."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + EVERY_S
        try:
            self._children = by_parent(await self._reader.run(lambda: read_parents(self._root)))
        except (HungError, OSError, ValueError):
            return

    def of(self, pid: int, others: Collection[int]) -> tuple[int, ...]:
        """Pids below a process, but for those that are ``others``, which have a place of their own."""
        found: list[int] = []
        below = list(self._children.get(pid, ()))
        while below and len(found) < LIMIT:
            child = below.pop(0)
            if child not in found and child not in others:
                found.append(child)
                below += self._children.get(child, ())
        return tuple(found)


def by_parent(parents: Mapping[int, int]) -> dict[int, list[int]]:
    """Children by their parent's pid, in order."""
    children: dict[int, list[int]] = {}
    for pid, parent in sorted(parents.items()):
        children.setdefault(parent, []).append(pid)
    return children


def with_children(state: ProcessState, children: Sequence[ProcessState]) -> ProcessState:
    """A process with the sums of those below it; None for what one of them did not tell."""
    values: dict[str, Any] = {**state.values, "children": len(children)}
    for name in _SUMMED if children else ():
        told = [child.values[name] for child in children]
        values[f"children_{name}"] = None if None in told else round(sum(told), 2)
    return replace(state, values=values)
