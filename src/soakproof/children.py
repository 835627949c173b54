"""Processes of our own: started so that they never outlive us, and told by pid and start time.

A child gets a pipe as standard input, its lifeline: the end of file on it means that the parent is gone,
however it went. A stopped child reads nothing, so on Linux the kernel sends a signal at the parent's death as
well: one that ends it, or, where it has something to put in order first, one that wakes it. A new session
keeps a terminal's Ctrl-C away from children, so that the parent can end them in the right order.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import psutil

_PR_SET_PDEATHSIG = 1
LIFELINE = "SOAKPROOF_LIFELINE"  # set for children: the parent's pid


def python(module: str, *arguments: str) -> list[str]:
    """The command of one of our own modules in this interpreter.

    ``-P``: a user's html.py in the current folder would else stand before the standard library's.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn(
    command: Sequence[str],
    *,
    log: Path | None = None,
    popen: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen,
    environment: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a child with a lifeline; its standard error goes to ``log``, its output into a pipe.
    ``environment`` is added to our own.

    Under gevent pass ``gevent.subprocess.Popen``. The child calls `guard_lifeline` first thing.
    """
    with log.open("ab") if log else contextlib.nullcontext(subprocess.DEVNULL) as errors:
        return popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            env={**os.environ, **(environment or {}), LIFELINE: str(os.getpid())},
        )


def guard_lifeline(
    on_line: Callable[[bytes], None] | None = None,
    on_end: Callable[[], None] | None = None,
) -> None:
    """In a child: notice the parent's end. Does nothing in a process that was not started by `spawn`.

    ``on_line`` gets each line that the parent writes. ``on_end`` is called at the end of file, and has to
    end the process; without one the process is ended at once.
    """
    parent = os.environ.pop(LIFELINE, None)
    if parent is None:
        return
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            at_death = signal.SIGCONT if on_end else signal.SIGKILL  # both reach a stopped process
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, at_death)
        if os.getppid() != int(parent):  # it died before the signal was armed
            (on_end or _leave)()
            return
    lines = os.fdopen(os.dup(0), "rb")
    threading.Thread(target=_listen, args=(lines, on_line, on_end or _leave), daemon=True).start()


def _listen(lines: IO[bytes], on_line: Callable[[bytes], None] | None, on_end: Callable[[], None]) -> None:
    for line in lines:
        if on_line:
            on_line(line.rstrip(b"\n"))
    on_end()


def _leave() -> None:
    os._exit(0)


def tell(child: "subprocess.Popen[bytes]", line: str) -> None:
    """Send the child a line over its lifeline; a child that is gone hears nothing."""
    with contextlib.suppress(OSError, ValueError):
        assert child.stdin is not None
        child.stdin.write(f"{line}\n".encode())
        child.stdin.flush()


def end(child: "subprocess.Popen[bytes]", patience: float = 3.0) -> int:
    """Close the lifeline, then SIGTERM, then SIGKILL, each after ``patience`` seconds; its exit status.

    A child that hangs in the kernel does not even end of SIGKILL: it is left behind, as if it had.
    """
    with contextlib.suppress(OSError, ValueError):
        assert child.stdin is not None
        child.stdin.close()
    for stop in (child.terminate, child.kill, lambda: None):
        try:
            return int(child.wait(timeout=patience))
        except Exception as error:  # gevent's TimeoutExpired is a class of its own
            if "TimeoutExpired" not in type(error).__name__:
                raise
            with contextlib.suppress(OSError):
                stop()
    return -9


def is_alive(pid: int, created: float) -> bool:
    """Whether this very process is still there: a reused pid has another start time."""
    try:
        process = psutil.Process(pid)
        return process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
