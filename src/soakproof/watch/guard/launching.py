"""`soakproof guard`: a backend launched, watched, and ended in time. Linux only; needs no rights of its own.

Before the launch, in this order: no other backend, sources that can be read, memory that is free. Then come
the record, the child and its self-test, and `guarded` takes over until nothing of the tree is left. What is
said goes to ``say``; standard output is the command's.
"""

import contextlib
import errno
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import trio

from soakproof.clock import RunClock
from soakproof.errors import EXIT_ERROR, SoakproofError, UsageError, words
from soakproof.plain import plain
from soakproof.redaction import without_options
from soakproof.watch.guard.child import Child, is_alone, is_supported
from soakproof.watch.guard.clearing import not_clear
from soakproof.watch.guard.ending import end
from soakproof.watch.guard.guarded import Guarded
from soakproof.watch.guard.kernel import KernelWatch
from soakproof.watch.guard.limits import Limits
from soakproof.watch.guard.lookout import Lookout, refused
from soakproof.watch.guard.measuring import CountGauge, host_gauges
from soakproof.watch.guard.processes import Process, find
from soakproof.watch.guard.record import Record
from soakproof.watch.guard.residents import residents

_PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_NOT_TAKEN = ("SIGTSTP",)  # Ctrl-Z: it would stop the guard, and the command would run on without one
_LOOK_S = 1.0
_LOCK_LOOK_S, _LOCK_PATIENCE_S = 0.1, 2.0  # of one guard for another that launches
_SHOWN = 200  # characters of a command, and of a reason
_LISTED = 5  # backends


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be launched, and how it is guarded."""

    command: Sequence[str]
    limits: Limits
    runs: Path  # where the record goes
    clear_to_bytes: int | None = None  # available memory that a launch waits for
    clear_within_s: float = 60.0
    beside: Sequence[int] = ()  # pids of backends that may be there
    grace_s: float = 10.0  # between SIGTERM and SIGKILL
    comes_back_s: float = 15.0  # in which memory has to be free again; a driver frees it after the process
    proc_root: str = "/proc"
    sys_root: str = "/sys"
    kmsg: str = "/dev/kmsg"


class RefusedError(SoakproofError):
    """Nothing was launched: says why, and what to do."""


def launch(order: Order, say: Callable[[str], None], hint: Callable[[str], None]) -> int:
    """Launch, guard, and return the exit code: the command's own, 128 and the signal's number where one ended
    it, or `guarded.EXIT_TRIPPED`. ``hint`` shows a line that the next one replaces.

    Raises UsageError for what cannot be launched and RefusedError for what must not be launched now.
    """
    if not is_supported():
        raise UsageError(
            "soakproof guard is for Linux: it needs /proc, and signals that end a whole tree",
            "judging, `runs` and `doctor` work on this system",
        )
    _refuse_no_command(order.command[0])
    wanted = [_found(pid) for pid in order.beside]
    return trio.run(_Launch(order, wanted, say, hint).run)


def _found(pid: int) -> Process:
    """Raises UsageError where no process has the pid."""
    process = find(pid)
    if process is None or process.is_dead:
        raise UsageError(f"--beside: no process has the pid {pid}", "look again: pgrep -af llama")
    return process


def _refuse_no_command(command: str) -> None:
    """Raises UsageError for what cannot be executed."""
    if shutil.which(command) is not None:
        return
    if os.path.exists(command):
        raise UsageError(f"{plain(command)} cannot be executed", "is it a program? chmod +x makes a file one")
    raise UsageError(f"no such command: {plain(command)}", "give its path, or extend PATH")


def refuse_residents(wanted: Sequence[Process]) -> None:
    """Raises RefusedError, with pids and commands, where a backend is there that is not wanted."""
    there = residents(wanted)
    if there:
        lines = [f"  pid {process.pid}: {_shown(command) or process.name}" for process, command in there]
        more = [f"  and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
        listed = "\n".join([*lines[:_LISTED], *more])
        raise RefusedError(
            f"another backend is resident, so nothing is launched\n{listed}\n"
            f"  end it first, or launch beside it: --beside {there[0][0].pid}"
        )


@contextlib.asynccontextmanager
async def one_at_a_time(say: Callable[[str], None]) -> AsyncIterator[Callable[[], None]]:
    """Of this user's guards one launches at a time, so that each sees what the one before has launched.

    What it gives lets the next one launch. Raises UsageError where something else is in the lock's place.
    """
    import fcntl  # not above: Windows has none

    path = Path(tempfile.gettempdir()) / f"soakproof-guard-{os.getuid()}.lock"
    with os.fdopen(_opened(path)) as lock:
        began, is_told = trio.current_time(), False
        while not _locked(lock.fileno()):
            if not is_told and trio.current_time() - began >= _LOCK_PATIENCE_S:
                say(f"waiting for another guard of this user, which launches: it holds {path}")
                is_told = True
            await trio.sleep(_LOCK_LOOK_S)
        yield lambda: fcntl.flock(lock, fcntl.LOCK_UN)


def _opened(lock: Path) -> int:
    try:
        return os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        why = {errno.ELOOP: "it is a link", errno.EISDIR: "it is a folder"}.get(
            error.errno or 0, words(error)
        )
        raise UsageError(
            f"{lock} keeps two guards of one user from launching at once, and cannot be opened: {why}",
            "a file of this user is expected there: remove what is there, or set TMPDIR to another folder",
        ) from error


def _locked(descriptor: int) -> bool:
    import fcntl

    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _shown(command: Sequence[str]) -> str:
    return plain(shlex.join(without_options(list(command))), _SHOWN)


@dataclass
class _Launch:
    """One launch, step by step."""

    order: Order
    wanted: Sequence[Process]  # backends that may be there
    say: Callable[[str], None]
    hint: Callable[[str], None]
    clock: RunClock = field(default_factory=RunClock.start)
    alone: bool = False  # no process was below this one before it started any

    async def run(self) -> int:
        refuse_residents(self.wanted)
        self.alone = is_alone()
        kernel = await KernelWatch.open(self.order.kmsg)
        try:
            lookout = self._lookout(kernel)
            before = await self._wait_until_clear(lookout)
            async with one_at_a_time(self.say) as launched:
                refuse_residents(self.wanted)  # another may have come while this one waited
                with trio.open_signal_receiver(
                    *(getattr(signal, n) for n in (*_PASSED_ON, *_NOT_TAKEN))
                ) as signals:
                    return await self._recorded(kernel, lookout, before, signals, launched)
        finally:
            kernel.close()

    def _lookout(self, kernel: KernelWatch) -> Lookout:
        gauges = host_gauges(self.order.limits, self.order.proc_root, self.order.sys_root)
        counts = CountGauge(kernel.fatal, lambda: None, kernel.why_unknown)
        return Lookout(self.order.limits, [*gauges, counts], self.clock.now)

    async def _wait_until_clear(self, lookout: Lookout) -> dict[str, int]:
        """Prove that the limits can be measured, and wait for memory; what is known once it is free."""
        now, began = await lookout.look_once(), trio.current_time()
        self._tell_unknown(lookout.unknown())
        within = self.order.clear_within_s
        while why := not_clear(self.order.limits, self.order.clear_to_bytes, now):
            waited = trio.current_time() - began
            if waited >= within:
                self.hint("")
                raise RefusedError(
                    f"memory has not cleared within {within:g} s, so nothing is launched: {why}\n"
                    "  see what holds it, or wait longer: --clear-within 10m"
                )
            self.hint(f"waiting for memory, {waited:.0f} of {within:g} s: {why}")
            await trio.sleep(min(_LOOK_S, within - waited))
            now = await lookout.look_once()
        self.hint("")
        return now

    def _tell_unknown(self, unknown: Mapping[str, str]) -> None:
        for name, why in refused(self.order.limits, unknown).items():
            raise RefusedError(
                f"{name} is required and cannot be measured, so nothing is launched: {plain(why, _SHOWN)}"
            )
        for name, why in unknown.items():
            self.say(f"{name} cannot be measured, so its limit is not kept: {plain(why, _SHOWN)}")

    async def _recorded(
        self,
        kernel: KernelWatch,
        lookout: Lookout,
        before: Mapping[str, int],
        signals: AsyncIterator[int],
        launched: Callable[[], None],
    ) -> int:
        """From the record's first line to its seal."""
        order = self.order
        record = Record(order.runs, self.clock, order.command, order.limits, self.say)
        record.kernel_state(kernel.state)
        beside = [process.pid for process in self.wanted]
        record.event("guard_started", before=dict(before), unknown=lookout.unknown(), beside=beside)
        why, reason, code = "error", "", EXIT_ERROR
        try:
            child = Child(order.command, alone=self.alone)
            launched()
            record.event("child_started", pid=child.pid, start_ticks=child.process.start_ticks)
            told = order.limits.in_words(lookout.unknown())
            self.say(f"pid {child.pid} is guarded: {told}; record {record.path}")
            guarded = Guarded(child, lookout, record, self.say, order.grace_s, before, order.comes_back_s)
            try:
                why, reason, code = await guarded.until_end(kernel, signals)
            finally:  # a fault of the guard's own leaves nothing running that nobody guards
                with trio.CancelScope(shield=True):
                    await end(child.tree, order.grace_s)
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
            raise
        finally:
            record.event("guard_ended", why=why, reason=reason, exit_code=code)
            record.seal(why, reason, code)
        return code
