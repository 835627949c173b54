"""Hosts without /proc, which are Windows and macOS: memory, processes and ports by psutil. Blocking."""

import sys
from pathlib import Path
from typing import Any

import psutil

from soakproof.watch.process import Identity, ProcessState

_HUNDREDTHS = 100  # of a second: a start time in whole numbers


def is_without_proc(proc_root: Path) -> bool:
    """Whether this is the host itself, and its system has no /proc; a recorded tree is read anywhere."""
    return sys.platform != "linux" and proc_root == Path("/proc")


def read_memory() -> dict[str, Any]:
    """Sizes in bytes, by the names that meminfo's have. psutil.Error and OSError may be raised."""
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "available_bytes": memory.available,
        "total_bytes": memory.total,
        "free_bytes": memory.free,
        "swap_total_bytes": swap.total,
        "swap_used_bytes": swap.used,
    }


def read_portable_process(pid: int) -> ProcessState | None:
    """None for a process that is gone, or dead and not yet reaped. Raises OSError."""
    try:
        process = psutil.Process(pid)
        with process.oneshot():
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
            created, times = process.create_time(), process.cpu_times()
            values = {
                "pid": pid,
                "created": round(created, 2),
                "name": process.name(),
                "state": process.status(),
                "rss_bytes": process.memory_info().rss,
                "rss_anon_bytes": None,  # psutil does not tell it apart
                "swap_bytes": None,
                "fds": _open_files(process),
                "threads": process.num_threads(),
                "cpu_seconds": round(times.user + times.system, 2),
            }
            return ProcessState(Identity(pid, round(created * _HUNDREDTHS)), process.ppid(), values)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return None
    except psutil.AccessDenied as error:
        raise PermissionError(f"process {pid} belongs to another user") from error


def _open_files(process: psutil.Process) -> int:
    """What Windows calls handles, and others file descriptors."""
    count = getattr(process, "num_handles", None) or process.num_fds
    return int(count())


def find_portable_listener(port: int) -> int | None:
    """The pid of a process that listens on a TCP port. Raises PermissionError where that is not told."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.AccessDenied as error:
        raise PermissionError("connections are told to an administrator only") from error
    listening = (
        c for c in connections if c.status == psutil.CONN_LISTEN and c.laddr and c.laddr.port == port
    )
    return next((c.pid for c in listening if c.pid), None)
