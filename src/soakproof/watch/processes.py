"""``process:<role>``: the target's processes, and the events that one was restarted or has vanished.

Roles: ``front`` is a Lemonade, ``backend`` serves the target's model (a bare llama.cpp has only that), and
further models are ``backend-2`` and so on. Only for a target on this host.
"""

from collections.abc import Sequence
from pathlib import Path

import trio

from soakproof.watch.known import MAIN, Known
from soakproof.watch.listener import Listener
from soakproof.watch.portable import is_without_proc, read_portable_process
from soakproof.watch.process import ProcessState, read_boot_time, read_process
from soakproof.watch.restarts import Restarts
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


class Processes:
    """One sample a role: {pid, created, name, state, rss_bytes, rss_anon_bytes, swap_bytes, fds, …}."""

    name = "process"
    bound_s = 5 * FILES_BOUND_S

    def __init__(self, config: WatchConfig, known: Known) -> None:
        self._root = Path(config.proc_root)
        self._known = known
        self._role = FRONT if config.is_lemonade else MAIN  # of the process that listens
        self._others = config.server_pids[1:]
        given = next(iter(config.server_pids), None)
        if not config.is_lemonade and known.main:
            given = known.main.pid
        self._listener = Listener(self._root, config.base_url, given)
        self._readers: dict[str, BlockingReader] = {}
        expected = {b.role: b.pid for b in known.backends if b.pid}
        self._restarts = Restarts(expected | ({self._role: given} if given else {}))
        self._boot_time: float | None = None

    async def read(self) -> Sequence[Reading | Happening]:
        found: list[Reading | Happening] = []
        pids = await self._pids()
        self._known.processes = dict(pids)
        if self._role not in pids:
            found.append(self._not_found())
        async with trio.open_nursery() as nursery:
            for role, pid in pids.items():
                nursery.start_soon(self._look, role, pid, found)
        return found

    async def _pids(self) -> dict[str, int]:
        """Who plays which role now. A backend that is no longer listed is watched until it is gone."""
        pids = self._restarts.still_there()
        if self._role == FRONT:
            pids |= {b.role: b.pid for b in self._known.backends if b.pid}
        extra = [pid for pid in self._others if pid not in pids.values()]
        pids |= {f"{self._role}-{number}": pid for number, pid in enumerate(extra, 2)}
        pid = await self._listener.find(self._restarts.parent(MAIN) if self._role == FRONT else None)
        return pids | ({self._role: pid} if pid else {})

    def _not_found(self) -> Reading:
        return Reading(
            f"process:{self._role}",
            "denied",
            reason=f"no process is seen to listen on port {self._listener.port}: watch as the server's own "
            "user or as root",
        )

    async def _look(self, role: str, pid: int, found: list[Reading | Happening]) -> None:
        source = f"process:{role}"
        reader = self._readers.setdefault(role, BlockingReader())
        try:
            state = await reader.run(lambda: self._read(pid))
        except HungError as error:
            found.append(Reading(source, "timeout", {"pid": pid}, str(error)))
        except OSError as error:
            why, reason = refusal(error)
            found.append(Reading(source, why, {"pid": pid}, reason))
        except ValueError as error:
            found.append(Reading(source, "error", {"pid": pid}, str(error)[:REASON_LIMIT]))
        else:
            found += self._told(role, source, pid, state)

    def _read(self, pid: int) -> ProcessState | None:
        if is_without_proc(self._root):
            return read_portable_process(pid)
        if self._boot_time is None:
            self._boot_time = read_boot_time(self._root)
        return read_process(self._root, pid, self._boot_time)

    def _told(
        self, role: str, source: str, pid: int, state: ProcessState | None
    ) -> list[Reading | Happening]:
        if state is not None:
            return [*self._restarts.seen(role, state), Reading(source, "value", state.values, state.reason)]
        self._known.processes.pop(role, None)
        if role == self._role:
            self._listener.lost()
        happened = self._restarts.missing(role, pid)
        return [*happened, Reading(source, "error", {"pid": pid}, f"process {pid} is gone")]
