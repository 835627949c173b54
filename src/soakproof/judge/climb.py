"""Counts that climb with the work to the end: open files, threads. Pure functions of numbers; no I/O.

Such a count has no noise worth the name: a healthy llama.cpp or Lemonade stays within ten of its least for
hours, whatever is in flight. So the least of each sixth of the trace is compared, and nothing is estimated. A
pool that fills goes up as well; what tells a leak is that it goes on as before in the last sixth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

PARTS = 6
LEAST_READINGS = 2 * PARTS
_SETTLED = 0.1  # of the trace is dropped: connections are opened and models are loaded then


@dataclass(frozen=True, slots=True)
class Climb:
    """What a count did. ``floors`` are the least of each sixth, ``middles`` the seconds in their middle."""

    answer: Literal["climbs", "unclear", "level", "short"]
    floors: tuple[float, ...] = ()
    middles: tuple[float, ...] = ()

    @property
    def amount(self) -> float:
        """From the first sixth's least to the last one's."""
        return self.floors[-1] - self.floors[0] if self.floors else 0.0


def climb(
    times: Sequence[float], counts: Sequence[float], least: float, parallel: Sequence[float] = ()
) -> Climb:
    """Whether a count climbs to the end, by ``least`` or more.

    ``parallel`` has the requests in flight at each time: where there are more of them at the end, three for
    each (a client's connection, the one to the backend, a thread) are no growth. Half of ``least`` in which
    every sixth lies above the one before is unclear.
    """
    at, value = np.asarray(times, float), np.asarray(counts, float)
    if len(at) < LEAST_READINGS or at[-1] <= at[0]:
        return Climb("short")
    edges = np.linspace(at[0] + _SETTLED * (at[-1] - at[0]), at[-1], PARTS + 1)
    place = np.digitize(at, edges[1:-1])
    parts = [(at >= edges[0]) & (place == n) for n in range(PARTS)]
    if min(part.sum() for part in parts) < 1:
        return Climb("short")
    floors = tuple(float(value[part].min()) for part in parts)
    middles = tuple(float(m) for m in (edges[:-1] + edges[1:]) / 2)
    flying = np.asarray(parallel, float)
    more = float(np.median(flying[parts[-1]]) - np.median(flying[parts[0]])) if len(flying) else 0.0
    return Climb(_answer(floors, least, 3 * max(0.0, more)), floors, middles)


def _answer(floors: Sequence[float], least: float, allowed: float) -> Literal["climbs", "unclear", "level"]:
    steps = np.diff(floors)
    amount = floors[-1] - floors[0]
    goes_on = floors[-1] - floors[PARTS // 2] >= amount / 4 and steps[-1] >= amount / (3 * len(steps))
    if amount >= least + allowed and goes_on and (steps > 0).sum() >= PARTS - 2:
        return "climbs"
    return "unclear" if amount >= least / 2 + allowed and goes_on and (steps > 0).all() else "level"
