"""Whether the rate of generation falls in the course of a run. Pure; no I/O.

Only what is alike is compared: answers of one length and prompt size, with as much going on beside them.
Within each such group every pair of answers gives a slope; the median of all of them is the run's (Theil and
Sen's, by groups), with the interval that Kendall's count of falling pairs gives, widened for neighbours that
resemble each other. A fall must be proven, go on in the second half, and be more than two steps: a step is
something that happened to the host, or a load that another program brought.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.columns.measured import streamed_rate
from soakproof.judge.statistics import Floats, Interval, thinned
from soakproof.records import Exchange

LEAST = 10  # answers that can be compared
MOST = 600  # answers that are: pairs grow with their square
PARTS = 8  # of the time, in which levels are compared: few enough to hold several answers each
STEPS = 2  # that may be there without the rate falling steadily
_SETTLED = 0.1  # of the run's time is dropped: caches and clocks warm up in it
_Z = 2.58  # of a 99 % interval
_LOAD_STEP = 0.5  # of one other request's company: answers closer than this had the same load

CLOCKS: Mapping[str, Callable[[Table[Exchange]], Floats]] = {
    "the server's clock": lambda answers: answers.metric("generation_rate"),
    "our clock": streamed_rate,
}

Answer = Literal["slower", "steady", "steps", "ended", "unclear", "short"]


@dataclass(frozen=True, slots=True)
class Rate:
    """One answer's rate: when, in seconds of the run, and among what it may be compared."""

    at: float
    rate: float
    alike: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """The change over the time that was compared, as a share of the rate: -0.2 is a fall by a fifth."""

    answer: Answer
    change: Interval | None = None
    seconds: float = 0.0
    n: int = 0


def alike(exchange: Exchange, company: float) -> tuple[object, ...]:
    """What must be the same of two answers for their rates to be compared."""
    context = (exchange.prompt_tokens or 0) + (exchange.completion_tokens or 0)
    return (
        exchange.scenario,
        exchange.role,
        exchange.max_tokens,
        round(math.log(max(context, 1)) / math.log(1.3)),
        round(company / _LOAD_STEP),
    )


def rates(
    exchanges: Table[Exchange], answers: Table[Exchange], measured: Floats, slots: int | None
) -> list[Rate]:
    """The rates ``measured`` of answers, NaN where there is none, with what they may be compared with;
    ``exchanges`` are all of the run: the company they had.

    Of a request's company no more is at work than the slots allow; the others wait.
    """
    sent, done = exchanges["sent_ns"].astype(np.float64), exchanges["done_ns"].astype(np.float64)
    most = math.inf if slots is None else max(slots - 1, 0)
    chosen = np.zeros(len(answers), bool)
    chosen[thinned(np.flatnonzero(~np.isnan(measured)).tolist(), MOST)] = True
    found = []
    for exchange, rate in zip(answers.where(chosen).records, measured[chosen].tolist(), strict=True):
        start, end = exchange.first_token_ns, exchange.last_token_ns
        if start is not None and end is not None and end > start:
            shared = float(np.clip(np.minimum(done, end) - np.maximum(sent, start), 0, None).sum())
            beside = min(shared / (end - start) - 1, most)  # it overlaps itself as well
            found.append(Rate((start + end) / 2 / NS, rate, alike(exchange, beside)))
    return found


def drift(found: Sequence[Rate], margin: float, shortest: float) -> Drift:
    """Whether rates fall by more than ``margin`` (a share) over the time that can be compared.

    Under ``shortest`` seconds, or with few answers that are alike, the answer is short.
    """
    at, logs, groups = _arrays(found)
    pairs = _pairs(at, logs, groups)
    spans = at[pairs.later] - at[pairs.earlier]
    seconds = float(spans.max()) if len(spans) else 0.0
    compared = len(np.union1d(pairs.earlier, pairs.later))
    if compared < LEAST or seconds < max(shortest, (at[-1] - at[0]) / 2):
        return Drift("short", None, seconds, compared)
    slope = _slope(at, logs, groups, pairs)
    change = Interval(*(math.expm1(min(part * seconds, 700.0)) for part in slope))
    limit = math.log1p(-margin) / seconds  # of the logarithm, a second
    answer = _answer(at, logs, groups, slope, limit)
    return Drift(answer, change, seconds, compared)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of answers that are alike and not simultaneous, by their places in order of time."""

    earlier: NDArray[np.intp]
    later: NDArray[np.intp]
    slopes: Floats


def _arrays(found: Sequence[Rate]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Times, logarithms of rates and numbers of groups, in order of time, the beginning left out."""
    ordered = sorted((r for r in found if r.rate > 0), key=lambda r: r.at)
    if ordered:
        first, last = ordered[0].at, ordered[-1].at
        ordered = [r for r in ordered if r.at >= first + _SETTLED * (last - first)]
    numbers = {key: n for n, key in enumerate(dict.fromkeys(r.alike for r in ordered))}
    return (
        np.array([r.at for r in ordered], float),
        np.log([r.rate for r in ordered]) if ordered else np.array([], float),
        np.array([numbers[r.alike] for r in ordered], np.intp),
    )


def _pairs(at: Floats, logs: Floats, groups: NDArray[np.intp]) -> _Pairs:
    earlier, later = np.triu_indices(len(at), 1)
    kept = (groups[earlier] == groups[later]) & (at[later] > at[earlier])
    earlier, later = earlier[kept], later[kept]
    return _Pairs(earlier, later, (logs[later] - logs[earlier]) / (at[later] - at[earlier]))


def _slope(at: Floats, logs: Floats, groups: NDArray[np.intp], pairs: _Pairs) -> Interval:
    """The median slope of the logarithm, a second, and its interval."""
    ordered = np.sort(pairs.slopes)
    middle = float(np.median(ordered))
    sizes = np.bincount(groups)
    variance = float((sizes * (sizes - 1) * (2 * sizes + 5) / 18).sum())
    wide = _Z * math.sqrt(variance * _likeness(logs - middle * at, groups)) / 2
    low, high = (len(ordered) / 2 - wide, len(ordered) / 2 + wide)
    last = len(ordered) - 1
    inside = low >= 0 and high <= last
    return Interval(
        middle,
        float(ordered[math.floor(low)]) if inside else -math.inf,
        float(ordered[math.ceil(high)]) if inside else math.inf,
    )


def _likeness(rest: Floats, groups: NDArray[np.intp]) -> float:
    """How many times wider the variance is because neighbours in time resemble each other."""
    without = rest - np.array([np.median(rest[groups == g]) for g in groups])
    spread = float((without**2).mean())
    if spread <= 0:
        return 1.0
    next_to = float((without[1:] * without[:-1]).mean()) / spread
    return (1 + min(max(next_to, 0.0), 0.9)) / (1 - min(max(next_to, 0.0), 0.9))


def _answer(at: Floats, logs: Floats, groups: NDArray[np.intp], slope: Interval, limit: float) -> Answer:
    if slope.low >= limit:
        return "steady"
    if slope.high >= limit:
        return "unclear"
    middle = (at[0] + at[-1]) / 2
    second = _pairs(at[at >= middle], logs[at >= middle], groups[at >= middle])
    if not len(second.slopes) or np.median(second.slopes) > limit:
        return "ended"
    fall = _fall_without_steps(at, logs, groups, slope)
    return "slower" if fall <= limit * (at[-1] - at[0]) else "steps"


def _fall_without_steps(at: Floats, logs: Floats, groups: NDArray[np.intp], slope: Interval) -> float:
    """The fall from the first part of the time to the last, less what the two steepest places have of it.

    A place's jump is the difference between the parts of time on both sides of it. What such a jump has as a
    rule, a steady fall has everywhere; what two of them have beyond that are steps.
    """
    effects = {g: np.median((logs - slope.estimate * at)[groups == g]) for g in set(groups.tolist())}
    level = logs - np.array([effects[g] for g in groups.tolist()])
    part = (at[-1] - at[0]) / PARTS
    fall = float(np.median(level[at >= at[-1] - part]) - np.median(level[at <= at[0] + part]))
    places = [(a + b) / 2 for a, b in pairwise(at) if at[0] + part / 2 <= (a + b) / 2 <= at[-1] - part / 2]
    jumps = {place: _jump(at, level, place, part) for place in places}
    usual = float(np.median(list(jumps.values()))) if jumps else 0.0
    for _ in range(STEPS):
        if jumps:
            steepest = min(jumps, key=lambda place: jumps[place])
            fall -= min(0.0, jumps[steepest] - usual)
            jumps = {place: jump for place, jump in jumps.items() if abs(place - steepest) >= part}
    return fall


def _jump(at: Floats, level: Floats, place: float, part: float) -> float:
    before, after = (at < place) & (at >= place - part), (at > place) & (at <= place + part)
    return float(np.median(level[after]) - np.median(level[before])) if before.any() and after.any() else 0.0
