"""Growth and drift of one trace: early against late, rises, and the leak rule for two hours or more.

Pure functions of times (seconds) and values. A trace of half an hour can neither prove nor exclude a leak:
`leak` says so, and `early_late` describes it instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from soakproof.judge.statistics import Floats, Interval, mann_whitney, thinned

LEAK_FROM_S = 7200.0  # shortest trace that the leak rule answers for
_WARM_UP_S, _WARM_UP_SHARE = 600.0, 0.2
_BIN_S, _ENVELOPE_S = 60.0, 600.0
_RISE_FROM, _RISE_MOST = 15, 600  # values
_RISE_CHANCE = 0.001


@dataclass(frozen=True, slots=True)
class Growth:
    """Medians of the first and the last third of a trace, its extremes, and how it ends."""

    early: float
    late: float
    floor: float
    peak: float
    rising: bool  # whether the last sixth still lies above the sixth before it
    n: int

    @property
    def amount(self) -> float:
        return self.late - self.early


def early_late(times: Sequence[float], values: Sequence[float], flat: float = 0.0) -> Growth | None:
    """First third against last third; None with fewer than six points.

    ``rising`` needs the last sixth's median to be above the one before by more than ``flat``.
    """
    if len(values) < 6:
        return None
    at, value = _ordered(times, values)
    start, length = at[0], at[-1] - at[0]
    early = value[at <= start + length / 3]
    late = value[at >= start + length * 2 / 3]
    last = value[at >= start + length * 5 / 6]
    before = value[(at >= start + length * 2 / 3) & (at < start + length * 5 / 6)]
    rising = bool(len(before) and np.median(last) - np.median(before) > flat)
    return Growth(
        float(np.median(early)),
        float(np.median(late)),
        float(value.min()),
        float(value.max()),
        rising,
        len(value),
    )


@dataclass(frozen=True, slots=True)
class Rise:
    """What single values did in the course of a run: ``grows`` to the end, or ``rose`` at some time."""

    answer: Literal["grows", "rose", "level", "short"]
    early: float | None = None  # medians of the first and the last third
    late: float | None = None
    n: int = 0

    @property
    def amount(self) -> float:
        return 0.0 if self.early is None or self.late is None else self.late - self.early


def rise(times: Sequence[float], values: Sequence[float], least: float) -> Rise:
    """Whether values of single events rise by ``least`` or more from the first third to the last.

    The thirds must differ by more than chance (Mann-Whitney), and growth shows in each half (Theil-Sen's
    slope, the low end of its 90 % interval). What rose once and then stays is no growth.
    """
    if len(values) < _RISE_FROM or max(times) <= min(times):
        return Rise("short", n=len(values))
    at, value = _ordered(thinned(times, _RISE_MOST), thinned(values, _RISE_MOST))
    third, middle = (at[-1] - at[0]) / 3, (at[0] + at[-1]) / 2
    first, last = value[at <= at[0] + third], value[at >= at[-1] - third]
    early, late = float(np.median(first)), float(np.median(last))
    rose = late - early >= least and mann_whitney(first.tolist(), last.tolist()) < _RISE_CHANCE
    if not rose:
        return Rise("level", early, late, len(values))
    grows = all(_is_rising(at[half], value[half]) for half in (at <= middle, at >= middle))
    return Rise("grows" if grows else "rose", early, late, len(values))


def _is_rising(at: Floats, value: Floats) -> bool:
    return len(at) >= 5 and float(np.ptp(at)) > 0 and theil_sen(at, value).low > 0


@dataclass(frozen=True, slots=True)
class Leak:
    """What the leak rule says of one trace. Slopes are in the values' unit per hour."""

    answer: Literal["leak", "none", "unclear", "short"]
    slope: Interval | None = None
    step: float | None = None  # the largest rise from one ten minutes to the next, if the answer hangs on it
    step_at: float | None = None  # seconds
    hours: float = 0.0


def leak(times: Sequence[float], used: Sequence[float], per_hour: float) -> Leak:
    """Whether *used* memory grows by more than ``per_hour``, by the rule that simulation favoured.

    The first max(10 min, 20 %) is dropped; medians of 60 s; of these the least in each ten minutes, which
    leaves out what requests hold for a while; Theil-Sen's slope with its 90 % interval. A leak needs the
    whole interval above the bound, the second half to agree, and more than one step to be the cause.
    """
    at, value = _ordered(times, used)
    length = at[-1] - at[0] if len(at) else 0.0
    if length < LEAK_FROM_S * 0.99:
        return Leak("short", hours=length / 3600)
    kept = at >= at[0] + max(_WARM_UP_S, _WARM_UP_SHARE * length)
    when, level = lower_envelope(at[kept], value[kept])
    if len(when) < 6:
        return Leak("unclear", hours=length / 3600)
    slope = theil_sen(when, level)
    step, step_at, without = _without_largest_step(when, level)
    answer = _answer(when, level, slope, per_hour)
    if answer != "none":
        rest = _answer(when, without, theil_sen(when, without), per_hour)
        if rest != "leak":
            return Leak(_by_step(rest, when, step_at), slope, step, step_at, length / 3600)
    return Leak(answer, slope, hours=length / 3600)


def _answer(
    when: Floats, level: Floats, slope: Interval, per_hour: float
) -> Literal["leak", "none", "unclear"]:
    half = len(when) // 2
    second = theil_sen(when[half:], level[half:])
    if slope.low > per_hour and second.estimate > per_hour:
        return "leak"
    return "none" if slope.high < per_hour or second.high < per_hour else "unclear"


def _by_step(rest: str, when: Floats, step_at: float) -> Literal["none", "unclear"]:
    """One step is no leak when two hours without growth followed it, or when it only ended the warm-up."""
    ended_warm_up = step_at <= when[1]
    return "none" if rest == "none" and (ended_warm_up or when[-1] - step_at >= LEAK_FROM_S) else "unclear"


def _without_largest_step(when: Floats, level: Floats) -> tuple[float, float, Floats]:
    """The largest rise between neighbours, when it was, and the trace with it taken out."""
    rises = np.diff(level)
    place = int(np.argmax(rises))
    usual = float(np.median(rises))
    lowered = level.copy()
    lowered[place + 1 :] -= rises[place] - usual
    return float(rises[place]), float(when[place + 1]), lowered


def lower_envelope(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The least 60 s median of each ten minutes, at the middle of its ten minutes."""
    minutes, medians = binned(times, values, _BIN_S)
    if not len(minutes):
        return minutes, medians
    place = ((minutes - times[0]) // _ENVELOPE_S).astype(int)
    places = np.unique(place)
    least = np.array([medians[place == p].min() for p in places])
    return times[0] + (places + 0.5) * _ENVELOPE_S, least


def binned(times: Floats, values: Floats, width: float) -> tuple[Floats, Floats]:
    """The middle of each ``width`` seconds that has values, and their median."""
    if not len(times):
        return times, values
    place = ((times - times[0]) // width).astype(int)
    edges = np.flatnonzero(np.diff(place)) + 1
    medians = np.array([np.median(part) for part in np.split(values, edges)])
    return times[0] + (np.unique(place) + 0.5) * width, medians


def theil_sen(times: Floats, values: Floats, confidence: float = 0.90) -> Interval:
    """Theil-Sen's slope per hour and its interval. Quadratic in the points: bin a trace first."""
    from scipy.stats import theilslopes

    if len(times) > 2000:
        raise ValueError(f"{len(times)} points: bin them first")
    found = theilslopes(values, times / 3600, alpha=confidence)
    return Interval(float(found.slope), float(found.low_slope), float(found.high_slope))


def _ordered(times: Sequence[float], values: Sequence[float]) -> tuple[Floats, Floats]:
    at, value = np.asarray(times, float), np.asarray(values, float)
    order = np.argsort(at, kind="stable")
    return at[order], value[order]
