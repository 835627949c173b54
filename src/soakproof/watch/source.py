"""What a source of the watch is, and how one is read within a bounded time.

A source tells what it could not find out, and why; it never puts a 0 for it. A read that hangs in the kernel
(sysfs after a GPU fault) cannot be ended: it is left behind in its thread, and no second one is started.
"""

import errno
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import trio

from soakproof.records import SourceState

T = TypeVar("T")
FILES_BOUND_S = 0.5
REASON_LIMIT = 300  # characters
_UNSUPPORTED = {errno.ENOENT, errno.ENODEV, errno.ENOTDIR, errno.ENOSYS, errno.EOPNOTSUPP}


@dataclass(frozen=True, slots=True)
class Reading:
    """What one source said: becomes a Sample."""

    source: str
    state: SourceState = "value"
    values: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Happening:
    """A change that a source noticed: becomes an Event."""

    what: str
    details: dict[str, Any]


class Source(Protocol):
    """A source. ``name`` is that of its samples, or the beginning of their names."""

    name: str
    bound_s: float

    async def read(self) -> Sequence[Reading | Happening]:
        """One reading. It may be cancelled when it takes longer than ``bound_s``."""
        ...


async def read_bounded(source: Source) -> Sequence[Reading | Happening]:
    """One reading of a source, whatever happens to it: a timeout and a fault of its own are readings too."""
    with trio.move_on_after(source.bound_s) as scope:
        try:
            return await source.read()
        except Exception as error:  # a fault of the watch's own; the other sources go on
            return [
                Reading(source.name, "error", reason=f"ours: {type(error).__name__}: {error}"[:REASON_LIMIT])
            ]
    assert scope.cancelled_caught
    return [Reading(source.name, "timeout", reason=f"no answer within {source.bound_s:g} s")]


class HungError(Exception):
    """A blocking read that did not come back in time, or that an earlier tick still waits for."""


class BlockingReader:
    """Runs one source's blocking reads, one at a time, each in a thread that may be left behind."""

    def __init__(self, bound_s: float = FILES_BOUND_S) -> None:
        self.bound_s = bound_s
        self._since: float | None = None  # when the read that is under way began
        self._limiter = trio.CapacityLimiter(math.inf)  # the shared one would run out of threads left behind

    async def run(self, read: Callable[[], T]) -> T:
        """What ``read`` returns. Raises HungError, and whatever ``read`` raises."""
        if self._since is not None:
            raise HungError(f"a read has been hanging for {time.monotonic() - self._since:.0f} s")
        await trio.lowlevel.checkpoint_if_cancelled()  # from here on the thread does start
        self._since = time.monotonic()
        with trio.move_on_after(self.bound_s):
            return await trio.to_thread.run_sync(
                self._finish, read, abandon_on_cancel=True, limiter=self._limiter
            )
        raise HungError(f"a read did not come back within {self.bound_s:g} s")

    def _finish(self, read: Callable[[], T]) -> T:
        try:
            return read()
        finally:
            self._since = None


async def read_values(name: str, reader: BlockingReader, read: Callable[[], dict[str, Any]]) -> Reading:
    """A reading of the values that a blocking ``read`` returns; its OSError or ValueError is the reason."""
    return await read_noted(name, reader, lambda: (read(), ""))


async def read_noted(
    name: str, reader: BlockingReader, read: Callable[[], tuple[dict[str, Any], str]]
) -> Reading:
    """The same for a ``read`` that returns what it could not find out, too: values and a reason."""
    try:
        values, reason = await reader.run(read)
        return Reading(name, values=values, reason=reason[:REASON_LIMIT])
    except HungError as error:
        return Reading(name, "timeout", reason=str(error))
    except OSError as error:
        state, reason = refusal(error)
        return Reading(name, state, reason=reason)
    except ValueError as error:
        return Reading(name, "error", reason=str(error)[:REASON_LIMIT])


def refusal(error: OSError) -> tuple[SourceState, str]:
    """The state and the reason that a failed file access stands for."""
    reason = f"{error.filename or 'a read'}: {error.strerror or error}"[:REASON_LIMIT]
    if isinstance(error, PermissionError):
        return "denied", reason
    return ("unsupported" if error.errno in _UNSUPPORTED else "error"), reason
