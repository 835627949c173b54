"""An absolute schedule on the run clock: it does not drift, and does not catch up in bursts. Pure but `Pace`.

Tick n is due at ``start + n * period``, whatever came before. A tick that is met late is recorded as late;
one that is late by more than a quarter of the period is missed, and never made up for.
"""

from collections.abc import Callable
from dataclasses import dataclass

import trio

from soakproof.clock import NS


@dataclass(frozen=True, slots=True)
class Schedule:
    """When ticks are due, in nanoseconds on the run clock."""

    start_ns: int
    period_ns: int

    def due(self, number: int) -> int:
        return self.start_ns + number * self.period_ns

    def following(self, last: int, now_ns: int) -> int:
        """The tick to wait for after tick ``last``: the first that is to come, or is just past."""
        oldest = now_ns - self.period_ns // 4
        return max(last + 1, -((self.start_ns - oldest) // self.period_ns))

    def passed(self, now_ns: int) -> int:
        """How many ticks were due by now, the first one included."""
        return max(0, (now_ns - self.start_ns) // self.period_ns + 1)


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick that was met: which one, when it was due, how late it is, and how many were missed before it."""

    number: int
    due_ns: int
    late_ns: int
    missed: int


class Pace:
    """Waits for one tick of a schedule after the other, and counts.

    ``now`` is the run clock. The waiting itself is trio's.
    """

    def __init__(self, schedule: Schedule, now: Callable[[], int]) -> None:
        self.schedule = schedule
        self.had = 0
        self.late_max_ns = 0
        self._now = now
        self._last = -1

    async def next(self) -> Tick:
        """The next tick, once it is due. It is a checkpoint."""
        number = self.schedule.following(self._last, self._now())
        due = self.schedule.due(number)
        await trio.lowlevel.checkpoint()
        while (left := due - self._now()) > 0:
            await trio.sleep(left / NS)
        missed = number - self._last - 1
        late = self._now() - due
        self._last = number
        self.had += 1
        self.late_max_ns = max(self.late_max_ns, late)
        return Tick(number, due, late, missed)

    def missed_by(self, now_ns: int) -> int:
        """Ticks that were due by now and were not met."""
        return self.schedule.passed(now_ns) - self.had
