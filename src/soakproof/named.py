"""Processes and logs of the server's that a user names: refused where they are not there."""

from collections.abc import Iterable
from pathlib import Path

import psutil

from soakproof.errors import UsageError
from soakproof.plain import plain


def refuse_missing_logs(logs: Iterable[Path | str]) -> None:
    """Raises UsageError for the first that is no regular file of this host."""
    for log in logs:
        if not Path(log).is_file():
            what = "is no regular file" if Path(log).exists() else "is not there"
            raise UsageError(
                f"--server-log: {plain(log, 200)} {what}",
                "name the file that the server writes its log to, on this host",
            )


def refuse_missing_processes(pids: Iterable[int]) -> None:
    """Raises UsageError for the first pid that no process of this host has."""
    for pid in pids:
        if not _is_there(pid):
            raise UsageError(f"--server-pid: no process has the pid {pid}", "look again: pgrep -af llama")


def _is_there(pid: int) -> bool:
    try:
        return pid > 0 and psutil.pid_exists(pid)
    except OverflowError:  # larger than any pid can be
        return False
