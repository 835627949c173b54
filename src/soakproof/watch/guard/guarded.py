"""The time in which a launched command is guarded, until nothing of its tree is left. Linux only."""

import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

import trio

from soakproof.plain import plain
from soakproof.watch.guard.child import Child
from soakproof.watch.guard.clearing import not_comparable, not_returned
from soakproof.watch.guard.ending import Ended, end
from soakproof.watch.guard.kernel import KernelWatch
from soakproof.watch.guard.lookout import Lookout
from soakproof.watch.guard.record import Record

EXIT_TRIPPED = 75  # EX_TEMPFAIL of sysexits.h: not now, perhaps later
_LOOK_S = 1.0


@dataclass
class Guarded:
    """A command that runs, and what is known of its end."""

    child: Child
    lookout: Lookout
    record: Record
    say: Callable[[str], None]
    grace_s: float
    before: Mapping[str, int]  # what was measured before the launch
    comes_back_s: float  # in which memory has to be free again
    status: int | None = None  # of the command, once it has ended; negative for a signal
    tripped: str = ""  # why it was ended, if it was

    async def until_end(self, kernel: KernelWatch, signals: AsyncIterator[int]) -> tuple[str, str, int]:
        """Why it ended, in one word and in words, and the exit code. Nothing of the tree is left running."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._pass_on, signals)
            nursery.start_soon(self._keep_record)
            nursery.start_soon(self.record.flush)
            nursery.start_soon(kernel.follow, self.record)
            await _first_of(self._wait_for_command, self._wait_for_trip)
            at_end = self.lookout.latest()
            await self._end_tree()
            await self._wait_for_memory(at_end)
            nursery.cancel_scope.cancel()
        if self.tripped:
            return "tripped", self.tripped, EXIT_TRIPPED
        assert self.status is not None
        if self.status < 0:
            return "ended", f"the command was ended by signal {-self.status}", 128 - self.status
        return "ended", f"the command ended with {self.status}", self.status

    async def _wait_for_command(self) -> None:
        self.status = await self.child.wait()
        self.record.event("child_ended", pid=self.child.pid, status=self.status)

    async def _wait_for_trip(self) -> None:
        self.tripped = "; ".join((await self.lookout.wait_for_trip()).reasons)

    async def _pass_on(self, signals: AsyncIterator[int]) -> None:
        async for number in signals:
            if number == signal.SIGTSTP:
                self.say(
                    "Ctrl-Z is not taken: a guard that is stopped does not guard; Ctrl-C ends the command"
                )
                continue
            reached = self.child.signal(number)
            self.record.event("signal_passed_on", name=signal.Signals(number).name, reached=reached)

    async def _keep_record(self) -> None:
        while True:
            self.record.sample(self.lookout.latest())
            self.child.look()
            await trio.sleep(_LOOK_S)

    async def _end_tree(self) -> None:
        """After a trip, or where the command has left something behind."""
        left = self.child.tree()
        if self.tripped or left:
            ended = await end(self.child.tree, self.grace_s, lambda: self._tell_why(len(left)))
            if self.status is None:
                with trio.move_on_after(_LOOK_S):
                    await self._wait_for_command()
            self._tell_end(ended)

    def _tell_why(self, left: int) -> None:
        if self.tripped:
            self.record.event("guard_trip", **self.lookout.trip_details())
            self.say(f"ending pid {self.child.pid} and all below it: {self.tripped}")
        else:
            self.record.event("left_behind", processes=left)
            self.say(f"the command has ended and left processes behind ({left}): ending them")

    def _tell_end(self, ended: Ended) -> None:
        left = [{"pid": p.pid, "name": p.name, "state": p.state} for p in ended.left]
        self.record.event(
            "tree_ended", asked=list(ended.asked), killed=list(ended.killed), left=left, took_s=ended.took_s
        )
        if ended.killed:
            pids = ", ".join(map(str, ended.killed))
            self.say(f"did not end of SIGTERM within {self.grace_s:g} s, and were killed: {pids}")
        for process in ended.left:
            self.say(f"pid {process.pid} ({plain(process.name)}, state {process.state}) does not end at all")

    async def _wait_for_memory(self, at_end: Mapping[str, int]) -> None:
        """Whether what the tree had came back; a GPU that hangs keeps its GTT, also after a crash."""
        until = trio.current_time() + self.comes_back_s
        now = await self.lookout.look_once()
        while missing := not_returned(self.before, at_end if self.tripped else {}, now):
            if trio.current_time() >= until:
                self.record.event("memory_not_returned", missing=list(missing), now=now)
                self.say(f"memory did not come back within {self.comes_back_s:g} s: {'; '.join(missing)}")
                return
            await trio.sleep(_LOOK_S)
            now = await self.lookout.look_once()
        if unknown := not_comparable(self.before, at_end, now):
            self.record.event("memory_not_comparable", unknown=list(unknown), now=now)
            self.say(f"whether memory came back is not known: {'; '.join(unknown)}")
        else:
            self.record.event("memory_returned", now=now)


async def _first_of(*waits: Callable[[], Awaitable[None]]) -> None:
    """Until one of these is over."""
    async with trio.open_nursery() as nursery:

        async def wait(one: Callable[[], Awaitable[None]]) -> None:
            await one()
            nursery.cancel_scope.cancel()

        for one in waits:
            nursery.start_soon(wait, one)
