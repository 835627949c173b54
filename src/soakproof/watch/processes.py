"""``process:<role>``: the target's processes, and the events that one was restarted or has vanished.

The processes below one are part of it, and one of those that is replaced is a restart, too.

Roles: ``front`` is a Lemonade, ``backend`` serves the target's model (a bare llama.cpp has only that), and
further models are ``backend-2`` and so on. Only for a target on this host.

Pids that the user named are believed before those of the health document, which in a container are others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from soakproof.watch.descendants import Descendants, with_children
from soakproof.watch.known import MAIN, Backend, Known
from soakproof.watch.listener import Listener
from soakproof.watch.portable import is_without_proc, read_portable_process
from soakproof.watch.process import ProcessState, read_boot_time, read_name, read_process
from soakproof.watch.restarts import ChildRestarts, Restarts
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import (
    FILES_BOUND_S,
    REASON_LIMIT,
    BlockingReader,
    Happening,
    HungError,
    Reading,
    refusal,
)

FRONT = "front"
_NOT_HERE = (
    "the front lists process {pid}, and there is none on this host: is it in a container? name it as this "
    "host sees it, --server-pid PID"
)
_PROGRAMS = {"llama": MAIN, "lemon": FRONT}  # with which their names begin, among pids that were named


@dataclass(frozen=True, slots=True)
class _Family:
    """A process, those below it, and those that were below it and live on elsewhere."""

    own: ProcessState
    below: Sequence[ProcessState] = ()
    elsewhere: Sequence[ProcessState] = ()


class Processes:
    """One sample a role: {pid, created, name, state, rss_bytes, rss_anon_bytes, swap_bytes, fds, …}.

    ``children`` counts the processes below it that have no role; ``children_rss_bytes`` … are their sums.
    """

    name = "process"
    bound_s = 5 * FILES_BOUND_S

    def __init__(self, config: WatchConfig, known: Known) -> None:
        self._root = Path(config.proc_root)
        self._known = known
        self._role = FRONT if config.is_lemonade else MAIN  # of the process that listens
        listed = {b.pid for b in known.backends} if config.is_lemonade else set()
        named = [pid for pid in config.server_pids if pid not in listed]
        self._named = named_roles(self._root, named, self._role)
        own = self._named.get(self._role)
        if not config.is_lemonade and known.main:
            own = own or known.main.pid
        self._listener = Listener(self._root, config.base_url, own, named=self._role in self._named)
        self._listeners: dict[str, Listener] = {}  # of backends whose pid the front does not tell
        self._readers: dict[str, BlockingReader] = {}
        expected = {b.role: b.pid for b in known.backends if b.pid} | self._named
        self._restarts = Restarts(expected | ({self._role: own} if own else {}))
        self._descendants = Descendants(self._root)
        self._children: dict[str, ChildRestarts] = {}
        self._boot_time: float | None = None

    async def read(self) -> Sequence[Reading | Happening]:
        found: list[Reading | Happening] = []
        pids = await self._pids()
        self._known.processes = dict(pids)
        await self._descendants.look()
        if self._role not in pids:
            found.append(self._not_found())
        async with trio.open_nursery() as nursery:
            for role, pid in pids.items():
                nursery.start_soon(self._look, role, pid, set(pids.values()), found)
        return found

    async def _pids(self) -> dict[str, int]:
        """Who plays which role now. A backend that is no longer listed is watched until it is gone."""
        pids = self._restarts.still_there()
        if self._role == FRONT:
            pids |= await self._listed()
        pid = await self._listener.find(self._restarts.parent(MAIN) if self._role == FRONT else None)
        return pids | ({self._role: pid} if pid else {})

    async def _listed(self) -> dict[str, int]:
        """Backends that the front lists: by the pid that it tells, else by who listens on their port."""
        found = {}
        for backend in self._known.backends:
            if backend.role in self._named:
                continue
            pid = backend.pid or await self._on_port(backend)
            if pid:
                found[backend.role] = pid
        return found

    async def _on_port(self, backend: Backend) -> int | None:
        if backend.url is None:
            return None
        listener = self._listeners.get(backend.role)
        if listener is None or listener.base_url != backend.url:
            listener = self._listeners[backend.role] = Listener(self._root, backend.url, None)
        return await listener.find(None)

    def _not_found(self) -> Reading:
        return Reading(
            f"process:{self._role}",
            "denied",
            reason=f"no process is seen to listen on port {self._listener.port}: watch as the server's own "
            "user or as root",
        )

    async def _look(
        self, role: str, pid: int, players: Collection[int], found: list[Reading | Happening]
    ) -> None:
        source = f"process:{role}"
        reader = self._readers.setdefault(role, BlockingReader())
        before = self._children.setdefault(role, ChildRestarts(role)).expected()
        try:
            family = await reader.run(lambda: self._read(pid, players, before))
        except HungError as error:
            found.append(Reading(source, "timeout", {"pid": pid}, str(error)))
        except OSError as error:
            why, reason = refusal(error)
            found.append(Reading(source, why, {"pid": pid}, reason))
        except ValueError as error:
            found.append(Reading(source, "error", {"pid": pid}, str(error)[:REASON_LIMIT]))
        else:
            found += self._told(role, source, pid, family)

    def _read(self, pid: int, players: Collection[int], before: Collection[int]) -> _Family | None:
        """A process and those below it. ``before``: the pids that were below it at the last look."""
        if is_without_proc(self._root):
            own = read_portable_process(pid)
            return _Family(own) if own else None
        if self._boot_time is None:
            self._boot_time = read_boot_time(self._root)
        own = read_process(self._root, pid, self._boot_time)
        if own is None or own.values["rss_bytes"] is None:  # a thread of the kernel's is no server
            return None
        below = self._descendants.of(pid, players)
        return _Family(own, self._states(below), self._states(set(before) - set(below)))

    def _states(self, pids: Collection[int]) -> list[ProcessState]:
        read = [read_process(self._root, pid, self._boot_time) for pid in pids]
        return [state for state in read if state]

    def _told(self, role: str, source: str, pid: int, family: _Family | None) -> list[Reading | Happening]:
        if family is not None:
            state = with_children(family.own, family.below)
            restarted = self._restarts.seen(role, state)
            if restarted:
                self._children[role] = ChildRestarts(role)  # those below it are new with it
            restarted += self._children[role].seen(family.below, {p.identity for p in family.elsewhere})
            return [*restarted, Reading(source, "value", state.values, state.reason)]
        self._known.processes.pop(role, None)
        listener = self._listener if role == self._role else self._listeners.get(role)
        if listener is not None:
            listener.lost()
        if self._is_listed(role, pid) and not self._restarts.has_seen(role, pid):
            return [Reading(source, "error", {"pid": pid}, _NOT_HERE.format(pid=pid))]
        happened = self._restarts.missing(role, pid)
        return [*happened, Reading(source, "error", {"pid": pid}, f"process {pid} is gone")]

    def _is_listed(self, role: str, pid: int) -> bool:
        """Whether a front tells this pid now; what has died it tells no more."""
        return role != self._role and any(b.role == role and b.pid == pid for b in self._known.backends)


def named_roles(proc_root: Path, pids: Sequence[int], listener: str) -> dict[str, int]:
    """The roles of processes that the user named: by their program, or in their order."""
    roles: dict[str, int] = {}
    for pid in pids:
        name = read_name(proc_root, pid) or ""
        role = next((role for begins, role in _PROGRAMS.items() if name.startswith(begins)), listener)
        number = sum(name == role or name.startswith(f"{role}-") for name in roles) + 1
        roles[role if number == 1 else f"{role}-{number}"] = pid
    return roles
