"""Which process plays a role, and whether it is still the same one. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from soakproof.watch.process import ProcessState
from soakproof.watch.source import Happening


@dataclass(frozen=True, slots=True)
class _Player:
    """A process in a role; ``state`` is None for one that was named and has never been seen."""

    pid: int
    state: ProcessState | None

    @property
    def created(self) -> float | None:
        return self.state.values["created"] if self.state else None

    def is_other_than(self, now: ProcessState) -> bool:
        if self.state is None:
            return self.pid != now.identity.pid
        return self.state.identity != now.identity


class Restarts:
    """Told each look at each role; answers with the event that it means, if any."""

    def __init__(self, expected: Mapping[str, int]) -> None:
        """``expected``: the pids that the target's identity named, by role."""
        self._last = {role: _Player(pid, None) for role, pid in expected.items()}
        self._gone: set[tuple[str, int]] = set()

    def seen(self, role: str, now: ProcessState) -> list[Happening]:
        """A process in a role. Another one than before, by pid or start time, is a restart."""
        before = self._last.get(role)
        self._last[role] = _Player(now.identity.pid, now)
        if before is None or not before.is_other_than(now):
            return []
        details = {
            "role": role,
            "was_pid": before.pid,
            "is_pid": now.identity.pid,
            "was_created": before.created,
            "is_created": now.values["created"],
        }
        return [Happening("restart", details)]

    def missing(self, role: str, pid: int) -> list[Happening]:
        """A process that is not there: told once for each."""
        if (role, pid) in self._gone:
            return []
        self._gone.add((role, pid))
        player = self._last.setdefault(role, _Player(pid, None))
        created = player.created if player.pid == pid else None
        return [Happening("vanished", {"role": role, "pid": pid, "created": created})]

    def has_seen(self, role: str, pid: int) -> bool:
        """Whether this process was there at some look."""
        player = self._last.get(role)
        return player is not None and player.pid == pid and player.state is not None

    def still_there(self) -> dict[str, int]:
        """The pid last known in each role, as long as it has not vanished."""
        return {
            role: player.pid for role, player in self._last.items() if (role, player.pid) not in self._gone
        }

    def parent(self, role: str) -> int | None:
        """The parent's pid of the process in a role, unless that is the system's first."""
        player = self._last.get(role)
        parent = player.state.parent if player and player.state else 0
        return parent if parent > 1 else None
