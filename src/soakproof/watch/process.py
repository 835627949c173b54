"""One process by what /proc tells of it. Blocking, Linux only; whoever reads has a bound."""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soakproof.watch.files import count, read_text

_LISTEN = "0A"  # in /proc/net/tcp
DEAD = ("Z", "X")  # states of a process that has ended, and that nobody has asked how


@dataclass(frozen=True, slots=True)
class Identity:
    """A process beyond doubt: a pid that was used again has another start time."""

    pid: int
    start_ticks: int  # since boot


@dataclass(frozen=True, slots=True)
class ProcessState:
    """What was read. ``parent`` and ``identity`` are for the watch itself, ``values`` for the evidence."""

    identity: Identity
    parent: int
    values: dict[str, Any]
    reason: str = ""  # what could not be read


def read_process(proc_root: Path, pid: int, boot_time: float | None) -> ProcessState | None:
    """None for a process that is gone, or dead and not yet reaped. Raises OSError and ValueError."""
    folder = proc_root / str(pid)
    try:
        stat = read_text(folder / "stat")
        status = _status(folder)
        fds, reason = _open_files(folder)
    except (FileNotFoundError, ProcessLookupError):
        return None
    name, fields = stat_fields(stat)
    if fields[0] in DEAD:
        return None
    ticks_a_second = os.sysconf("SC_CLK_TCK")
    start = count(fields[19])
    values = {
        "pid": pid,
        "created": None if boot_time is None else round(boot_time + start / ticks_a_second, 2),
        "name": name,
        "state": fields[0],
        "rss_bytes": status.get("VmRSS"),
        "rss_anon_bytes": status.get("RssAnon"),
        "swap_bytes": status.get("VmSwap"),
        "fds": fds,
        "threads": count(fields[17]),
        "cpu_seconds": round((count(fields[11]) + count(fields[12])) / ticks_a_second, 2),
    }
    return ProcessState(Identity(pid, start), int(fields[1]), values, reason)


def stat_fields(stat: str) -> tuple[str, list[str]]:
    """The name, which may hold spaces and brackets, and the fields from the state on."""
    head, found, tail = stat.rpartition(")")
    fields = tail.split()
    if not found or len(fields) < 20:
        raise ValueError(f"expected a process's stat, found {stat[:80]!r}")
    return head.partition("(")[2], fields


def _status(folder: Path) -> dict[str, int]:
    """Sizes in bytes; a kernel thread has none. Raises ValueError for one that is less than 0."""
    found = {}
    for line in read_text(folder / "status").splitlines():
        key, _, rest = line.partition(":")
        number = rest.split()
        if number[1:] == ["kB"]:
            found[key] = count(number[0]) * 1024
    return found


def _open_files(folder: Path) -> tuple[int | None, str]:
    try:
        return len(os.listdir(folder / "fd")), ""
    except PermissionError:
        return None, "fds: the process belongs to another user"
    except FileNotFoundError:
        if not (folder / "stat").exists():
            raise
        return None, "fds: not shown"  # as in a recording of another user's process


def read_boot_time(proc_root: Path) -> float | None:
    """Wall time at boot in seconds, or None."""
    try:
        lines = read_text(proc_root / "stat").splitlines()
        told = float(next(line.removeprefix("btime ") for line in lines if line.startswith("btime ")))
    except (OSError, ValueError, StopIteration):
        return None
    return told if math.isfinite(told) and told >= 0 else None


def find_listener(proc_root: Path, port: int) -> int | None:
    """The pid of a process that listens on a TCP port. Other users' processes are not seen without root."""
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(proc_root, port)}
    if not wanted:
        return None
    pids = sorted(int(p.name) for p in proc_root.iterdir() if p.name.isdigit())
    return next((pid for pid in pids if not wanted.isdisjoint(_links(proc_root / str(pid) / "fd"))), None)


def still_listens(proc_root: Path, pid: int, port: int) -> bool | None:
    """Whether a process listens on a TCP port; None where its files may not be seen."""
    folder = proc_root / str(pid) / "fd"
    if not os.access(folder, os.R_OK):
        return None
    wanted = {f"socket:[{inode}]" for inode in _listening_inodes(proc_root, port)}
    return not wanted.isdisjoint(_links(folder))


def read_parents(proc_root: Path) -> dict[int, int]:
    """The parent's pid of every process. Raises OSError where there is no list of them."""
    parents = {}
    for folder in proc_root.iterdir():
        if folder.name.isdigit():
            try:
                _, fields = stat_fields(read_text(folder / "stat"))
                parents[int(folder.name)] = int(fields[1])
            except (OSError, ValueError):
                continue
    return parents


def read_name(proc_root: Path, pid: int) -> str | None:
    """The name of a process; None for one that is gone or cannot be read. Nothing but a plain file is opened,
    since no reader bounds this.
    """
    stat = proc_root / str(pid) / "stat"
    try:
        return stat_fields(read_text(stat))[0] if stat.is_file() else None
    except (OSError, ValueError):
        return None


def _listening_inodes(proc_root: Path, port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        try:
            lines = read_text(proc_root / "net" / table).splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if len(fields) > 9 and fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9]


def _links(folder: Path) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(folder / name)
        except OSError:
            continue
