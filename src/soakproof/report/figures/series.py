"""Samples and records as arrays to draw: gaps stay gaps, long series keep their extremes. Pure numpy.

Times are seconds of the run. A missing reading is NaN, which breaks the line; nothing is interpolated.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.judge.series import Numbers
from soakproof.samples import Readings

Floats = NDArray[np.float64]
BINS = 300  # of a series that is thinned: about two points a pixel of a figure's width
_LATE = 2.5  # intervals without a reading that make a gap


@dataclass(frozen=True, slots=True)
class Series:
    """A line: ``times`` in seconds, ascending; ``values`` with NaN where there was none."""

    times: Floats
    values: Floats

    @property
    def known(self) -> Floats:
        """The values that are there."""
        return self.values[np.isfinite(self.values)]

    def __bool__(self) -> bool:
        return bool(self.known.size)


def series(pairs: Iterable[tuple[float, float | None]]) -> Series:
    """A series of (seconds, value or None), in order of time."""
    found = sorted(pairs, key=lambda pair: pair[0])
    values = [np.nan if value is None else float(value) for _, value in found]
    return Series(np.array([t for t, _ in found], dtype=float), np.array(values, dtype=float))


def of_samples(told: Readings, numbers: Numbers, interval: float | None = None) -> Series:
    """One value of a source over the run; a reading without it, or a late one, leaves a gap.

    ``interval`` is the schedule in seconds; None takes the median distance of the readings.
    """
    return with_gaps(Series(told.due_ns / NS, numbers(told)), interval)


def with_gaps(line: Series, interval: float | None = None) -> Series:
    """A NaN wherever the next point comes later than 2.5 intervals after the one before it."""
    steps = np.diff(line.times)
    if not steps.size:
        return line
    late = np.flatnonzero(steps > _LATE * (interval or float(np.median(steps)) or 1.0))
    middle = (line.times[late] + line.times[late + 1]) / 2
    return Series(np.insert(line.times, late + 1, middle), np.insert(line.values, late + 1, np.nan))


def thinned(line: Series, bins: int = BINS) -> Series:
    """The lowest, the highest and the last value of each of ``bins`` equal spans, and a gap wherever there
    was one. With the last a line of steps goes on.
    """
    if line.times.size <= 3 * bins:
        return line
    there = np.flatnonzero(np.isfinite(line.values))
    edges = np.linspace(line.times[0], line.times[-1], bins + 1)[1:-1]
    kept: list[int] = []
    for part in np.split(there, np.searchsorted(line.times[there], edges)):
        if part.size:
            found = line.values[part]
            kept += sorted({int(part[np.argmin(found)]), int(part[np.argmax(found)]), int(part[-1])})
    kept = sorted(kept + _gaps_between(line, kept))
    return Series(line.times[kept], line.values[kept])


def _gaps_between(line: Series, kept: Sequence[int]) -> list[int]:
    """The first missing point between each two neighbours of ``kept`` that have one between them."""
    missing = np.flatnonzero(np.isnan(line.values))
    after = np.searchsorted(missing, kept)
    return [int(missing[start]) for start, end in pairwise(after) if end > start]


def lonely(line: Series) -> Series:
    """Points with a gap on both sides, which a line cannot show."""
    gap = np.isnan(line.values)
    before, after = np.r_[True, gap[:-1]], np.r_[gap[1:], True]
    alone = ~gap & before & after
    return Series(line.times[alone], line.values[alone])


def missing_spans(line: Series) -> list[tuple[float, float]]:
    """(from, to) of each stretch without a value, between the values around it."""
    gap = np.isnan(line.values)
    ends = np.flatnonzero(np.diff(np.r_[False, gap, False].astype(int)))
    last = line.times.size - 1
    return [
        (float(line.times[max(start - 1, 0)]), float(line.times[min(end, last)]))
        for start, end in zip(ends[::2], ends[1::2], strict=True)
    ]


def window_medians(line: Series, windows: int, least: int = 3) -> Series:
    """The median of each of ``windows`` equal spans, at its middle; NaN with fewer than ``least``."""
    if line.known.size < least or windows < 2:
        return Series(np.array([]), np.array([]))
    edges = np.linspace(line.times[0], line.times[-1], windows + 1)
    parts = np.split(line.values, np.searchsorted(line.times, edges[1:-1]))
    medians = [float(np.nanmedian(p)) if np.isfinite(p).sum() >= least else np.nan for p in parts]
    return Series((edges[:-1] + edges[1:]) / 2, np.array(medians))


def in_flight(began: Floats, ended: Floats) -> Series:
    """How many requests were under way at each instant, as steps; ends first where they fall together."""
    times = np.concatenate([began, ended])
    steps = np.repeat([1.0, -1.0], [len(began), len(ended)])
    order = np.lexsort((steps, times))
    return Series(times[order], np.cumsum(steps[order]))


def merged(spans: Iterable[tuple[float, float]], nearer: float) -> list[tuple[float, float]]:
    """Spans of which those less than ``nearer`` seconds apart are drawn as one."""
    done: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if done and start - done[-1][1] < nearer:
            done[-1] = (done[-1][0], max(done[-1][1], end))
        else:
            done.append((start, end))
    return done
