"""Which process plays a role, and whether it is still the same one. Pure."""

from typing import Any

from soakproof.watch.process import ProcessState
from soakproof.watch.source import Happening


class Restarts:
    """Told each look at each role; answers with the event that it means, if any."""

    def __init__(self) -> None:
        self._last: dict[str, ProcessState] = {}
        self._gone: set[tuple[str, int]] = set()

    def seen(self, role: str, now: ProcessState) -> list[Happening]:
        """A process in a role. Another one than before, by pid or start time, is a restart."""
        before = self._last.get(role)
        self._last[role] = now
        if before is None or before.identity == now.identity:
            return []
        details: dict[str, Any] = {"role": role, "was_pid": before.identity.pid, "is_pid": now.identity.pid}
        details |= {"was_created": before.values["created"], "is_created": now.values["created"]}
        return [Happening("restart", details)]

    def missing(self, role: str, pid: int) -> list[Happening]:
        """A process that is not there: told once for each."""
        if (role, pid) in self._gone:
            return []
        self._gone.add((role, pid))
        before = self._last.get(role)
        known = before is not None and before.identity.pid == pid
        created = before.values["created"] if before and known else None
        return [Happening("vanished", {"role": role, "pid": pid, "created": created})]

    def still_there(self) -> dict[str, int]:
        """The pid last seen in each role, as long as it has not vanished."""
        pids = {role: state.identity.pid for role, state in self._last.items()}
        return {role: pid for role, pid in pids.items() if (role, pid) not in self._gone}

    def parent(self, role: str) -> int | None:
        """The parent's pid of the process in a role, unless that is the system's first."""
        state = self._last.get(role)
        return state.parent if state and state.parent > 1 else None
