"""Limits and use of memory and processor by control groups (v2): the tester's own, and each server process's.

A limit may be set on any group above a process's own; the lowest one counts. Groups above the one that a
container sees as its root cannot be looked at from inside.
"""

import errno
import math
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from soakproof.watch.files import Files, count, read_text
from soakproof.watch.known import Known
from soakproof.watch.memory import parse_meminfo
from soakproof.watch.per_process import PerProcess, ProcessGone
from soakproof.watch.source import FILES_BOUND_S, Reading

TESTER = "tester"
_LIMITS = {
    "memory_max_bytes": "memory.max",
    "memory_high_bytes": "memory.high",
    "swap_max_bytes": "memory.swap.max",
    "cpu_max_cores": "cpu.max",
}
_PATH_LIMIT = 300  # characters of a group's path that are kept
_DEPTH_LIMIT = 32


class Cgroup:
    """``cgroup:tester`` and ``cgroup:<role>``: limits, use, kills for memory, throttling. ``meminfo_shows``
    tells whether /proc/meminfo has the host's figures or the container's. A limit that is None and named in
    ``unlimited`` is not set; one that is None and not named there is not known.
    """

    name = "cgroup"
    bound_s = 3 * FILES_BOUND_S

    def __init__(self, proc_root: str, sys_root: str, known: Known) -> None:
        self._proc = Path(proc_root)
        self._folder = Path(sys_root) / "fs" / "cgroup"
        self._known = known
        self._processes = PerProcess(self.name, self._read)

    async def read(self) -> Sequence[Reading]:
        return await self._processes.readings({TESTER: None, **self._known.processes})

    def _read(self, pid: int | None) -> tuple[dict[str, Any], str]:
        groups = self._groups(pid)
        files = Files()
        values: dict[str, Any] = {"pid": pid} if pid else {}
        path = PurePosixPath("/", *groups[0].relative_to(self._folder).parts)
        values |= {"path": str(path)[:_PATH_LIMIT], **_limits(files, groups), **_use(files, groups[0])}
        if pid is None:
            values |= self._meminfo(values["memory_max_bytes"])
        return values, files.reason

    def _groups(self, pid: int | None) -> list[Path]:
        """The process's own group and those above it, the root last. Raises OSError without v2."""
        shown = self._proc / ("self" if pid is None else str(pid)) / "cgroup"
        try:
            path = group_path(read_text(shown))
        except (FileNotFoundError, ProcessLookupError):
            if pid is None:
                raise
            raise ProcessGone from None
        controllers = self._folder / "cgroup.controllers"
        if path is None or not controllers.exists() or "memory" not in read_text(controllers).split():
            raise OSError(errno.ENOSYS, "control groups v2 do not control memory here", str(self._folder))
        if ".." in path.parts:
            raise OSError(errno.ENOENT, "it lies outside of what this container sees", str(path))
        groups = with_parents(self._folder, path)
        groups[0].stat()
        return groups

    def _meminfo(self, limit: int | None) -> dict[str, Any]:
        """Whose memory /proc/meminfo shows: in most containers the host's, although less may be used."""
        try:
            total = parse_meminfo(read_text(self._proc / "meminfo"))["total_bytes"]
        except (OSError, ValueError):
            return {"meminfo_total_bytes": None, "meminfo_shows": None}
        shows = "container" if limit is not None and limit == total else "host"
        return {"meminfo_total_bytes": total, "meminfo_shows": shows}


def group_path(text: str) -> PurePosixPath | None:
    """The path of the v2 group in a process's ``cgroup`` file."""
    path = next((line[3:] for line in text.splitlines() if line.startswith("0::/")), None)
    return None if path is None else PurePosixPath(path)


def with_parents(root: Path, path: PurePosixPath) -> list[Path]:
    """The folders of a group and of those above it, the root last."""
    own = root.joinpath(*path.parts[1:][:_DEPTH_LIMIT])
    return [own, *(group for group in own.parents if group.is_relative_to(root))]


def _limits(files: Files, groups: Sequence[Path]) -> dict[str, Any]:
    """The lowest of each limit, and which of them are not set at all."""
    lowest = {name: _lowest(files, groups, file) for name, file in _LIMITS.items()}
    unset = [name for name, limit in lowest.items() if limit == math.inf]
    values = {name: None if limit in (None, math.inf) else limit for name, limit in lowest.items()}
    return {**values, "unlimited": unset}


def _lowest(files: Files, groups: Sequence[Path], name: str) -> float | None:
    """Of a limit on any of these groups: infinite where none is set, None where one cannot be read."""
    limits = [_limit(files, group / name) for group in groups]
    known = [limit for limit in limits if limit is not None]
    return min(known) if len(known) == len(limits) else None


def _limit(files: Files, file: Path) -> float | None:
    """``max``, a number, or for the processor time and period; a group without the file sets no limit."""
    if not file.exists():
        return math.inf
    number, _, period = (files.text(file) or "").partition(" ")
    if number == "max":
        return math.inf
    try:
        return count(number) / count(period) if period else count(number)
    except (ValueError, ZeroDivisionError):
        files.refuse(file.name, f"expected a limit, found {number[:40]!r}")
        return None


def _use(files: Files, group: Path) -> dict[str, Any]:
    """What is used, and what the limits have cost since the group was made."""
    events = _pairs(files, group / "memory.events")
    cpu = _pairs(files, group / "cpu.stat")
    return {
        "memory_bytes": files.count(group / "memory.current"),
        "swap_bytes": files.count(group / "memory.swap.current"),
        "oom_events": events.get("oom"),
        "oom_kills": events.get("oom_kill"),
        "throttled": cpu.get("nr_throttled"),
        "throttled_us": cpu.get("throttled_usec"),
    }


def _pairs(files: Files, file: Path) -> dict[str, int]:
    """``name number`` a line."""
    lines = (line.split() for line in (files.text(file) or "").splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdecimal()}
