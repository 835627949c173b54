"""Which process plays a role, and whether it is still the same one. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from soakproof.watch.process import Identity, ProcessState
from soakproof.watch.source import Happening

LASTING_LOOKS = 10  # that a child was there for before its end means anything: tools come and go


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
        return [_restart(role, before, now)]

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


@dataclass(slots=True)
class _Child:
    state: ProcessState
    looks: int = 0
    ended: bool = False


class ChildRestarts:
    """The same for the processes below one that plays a role: a model's own process, a worker.

    Which of them replaces which nobody tells: a later one of the same name comes for one that had lasted.
    """

    def __init__(self, role: str) -> None:
        self._role = role
        self._children: dict[Identity, _Child] = {}

    def expected(self) -> set[int]:
        """The pids of those that were there at the last look."""
        return {child.pid for child, seen in self._children.items() if not seen.ended}

    def seen(self, now: Sequence[ProcessState], elsewhere: Collection[Identity]) -> list[Happening]:
        """One look: the children, and which of those before live on without being one any more."""
        new = [state for state in now if state.identity not in self._children]
        self._end({state.identity for state in now}, set(elsewhere))
        happened = [
            _restart(f"{self._role}'s child", before, state)
            for state in new
            if (before := self._before(state))
        ]
        for state in now:
            self._children.setdefault(state.identity, _Child(state)).looks += 1
        return happened

    def _end(self, there: set[Identity], elsewhere: set[Identity]) -> None:
        """Keep those that are there, and of those that ended the ones that had lasted."""
        for identity, child in list(self._children.items()):
            if identity in there:
                continue
            child.ended = True
            if identity in elsewhere or child.looks < LASTING_LOOKS:
                del self._children[identity]

    def _before(self, now: ProcessState) -> _Player | None:
        """The process that a new one comes for, which is forgotten by that."""
        name, start = now.values["name"], now.identity.start_ticks
        for identity, child in self._children.items():
            if child.ended and child.state.values["name"] == name and identity.start_ticks < start:
                del self._children[identity]
                return _Player(identity.pid, child.state)
        return None


def _restart(role: str, before: _Player, now: ProcessState) -> Happening:
    details = {
        "role": role,
        "was_pid": before.pid,
        "is_pid": now.identity.pid,
        "was_created": before.created,
        "is_created": now.values["created"],
    }
    return Happening("restart", details)
