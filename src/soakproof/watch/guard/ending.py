"""Ending whole trees of processes: SIGTERM first, and SIGKILL after a grace period. Linux only."""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import trio

from soakproof.watch.guard.processes import Process, is_there, send

_LOOK_S = 0.02
_LOOKS = (
    3  # in a row that find nothing, until nothing is left: what starts another and ends may be between them
)
_LAST_S = 5.0  # after SIGKILL; a process that hangs in the kernel does not even end of that


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a tree."""

    asked: tuple[int, ...]  # pids that got SIGTERM
    killed: tuple[int, ...]  # pids that got SIGKILL
    left: tuple[Process, ...]  # what is still there
    took_s: float


async def end(
    tree: Callable[[], Sequence[Process]], grace_s: float, on_asked: Callable[[], None] = lambda: None
) -> Ended:
    """End all that ``tree`` finds, each time it is asked: a process may start another before it ends.

    ``on_asked`` is called once the first SIGTERM has been sent to each.
    """

    async def still_there() -> list[Process]:
        for look in range(_LOOKS):
            if left := [process for process in tree() if is_there(process)]:
                return left
            if look < _LOOKS - 1:
                await trio.sleep(_LOOK_S)
        return []

    began = time.monotonic_ns()
    asked = _signal(await still_there(), signal.SIGTERM, {})
    on_asked()
    until = trio.current_time() + grace_s
    while (left := await still_there()) and trio.current_time() < until:
        asked |= _signal(left, signal.SIGTERM, asked)
        await trio.sleep(_LOOK_S)
    killed: dict[int, int] = {}
    until = trio.current_time() + _LAST_S
    while (left := await still_there()) and trio.current_time() < until:
        killed |= _signal(left, signal.SIGKILL, killed)
        await trio.sleep(_LOOK_S)
    took_s = round((time.monotonic_ns() - began) / 1e9, 3)
    return Ended(tuple(asked), tuple(killed), tuple(left), took_s)


def _signal(processes: Sequence[Process], number: int, had: dict[int, int]) -> dict[int, int]:
    """Signal those that have not had it; pids to start times of those that got it."""
    got: dict[int, int] = {}
    for process in processes:
        if had.get(process.pid) != process.start_ticks:
            with suppress(PermissionError):  # such as one that runs as another user
                if send(process, number):
                    got[process.pid] = process.start_ticks
    return got
