"""Samples as series of numbers: one value over time, of one process, or while the server was idle. No I/O."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.judge.telling import counted
from soakproof.judge.watched import KNOWN_SHARE, wanted
from soakproof.plain import clause
from soakproof.records import Sample
from soakproof.samples import Readings

Floats = NDArray[np.float64]
Numbers = Callable[[Readings], Floats]  # one number of each reading; NaN where it is not known
NEAR_S = 1.5  # a reading belongs to another source's that is no further away


@dataclass(frozen=True, slots=True)
class Series:
    """Times in seconds of the run, and values, in order of time."""

    times: tuple[float, ...]
    values: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def hours(self) -> float:
        return (self.times[-1] - self.times[0]) / 3600 if self.times else 0.0


def series(told: Readings, numbers: Numbers) -> Series:
    """What could be read, in order; what could not is left out, never 0."""
    values = numbers(told)
    known = ~np.isnan(values)
    return Series(tuple(told.times_s[known].tolist()), tuple(values[known].tolist()))


def reading(name: str) -> Numbers:
    """One value of each reading by its name."""
    return lambda told: told.numbers(name)


@dataclass(frozen=True, slots=True)
class Known:
    """In how many readings a value was known, and of how many."""

    n: int
    of: int

    @property
    def is_enough(self) -> bool:
        """Whether a bound on the value can be said to have been kept: what was not read may lie beyond it."""
        return self.n >= wanted(self.of, KNOWN_SHARE)

    @property
    def lack(self) -> str:
        """How often it was not known, as a sentence after another one; empty where it was known enough."""
        missing = self.of - self.n
        return "" if self.is_enough else f" It was not known in {missing} of {counted(self.of, 'reading')}."


def known(told: Readings, numbers: Numbers) -> Known:
    """How often something of these readings was known."""
    return Known(int((~np.isnan(numbers(told))).sum()), len(told))


def of_load(evidence: Evidence, told: Readings) -> Readings:
    """The readings that were complete while the load ran."""
    return told.during(*load_span(evidence))


def held(told: Readings) -> Floats:
    """RssAnon and VmSwap of a process and of those below it, in bytes: what is held, swapped out or not."""
    own = told.numbers("rss_anon_bytes") + told.numbers("swap_bytes")
    below = told.numbers("children_rss_anon_bytes") + told.numbers("children_swap_bytes")
    has_children = told.numbers("children") > 0
    return np.where(has_children, own + below, own)


def one_process(told: Readings) -> tuple[Readings, int]:
    """The readings of the process that was seen most often, and how many processes there were."""
    known = told.with_value()
    seen = list(zip(known.told("pid"), known.told("created"), strict=True))
    counts = Counter(seen)
    if len(counts) < 2:
        return known, len(counts)
    most = counts.most_common(1)[0][0]
    return known.take(np.array([process == most for process in seen], bool)), len(counts)


def while_idle(evidence: Evidence, whole: Series) -> Series:
    """The part of a series that was read while every slot was free."""
    slots = evidence.source("slots")
    idle = slots.times_s[slots.numbers("busy") == 0]
    times = np.array(whole.times, np.float64)
    behind = np.append(idle, np.inf)[np.searchsorted(idle, times - NEAR_S)]
    return _part(whole, behind <= times + NEAR_S)


def during_load(evidence: Evidence, whole: Series) -> Series:
    """The part of a series that was read while the load ran."""
    start, end = load_span(evidence)
    times_ns = np.array(whole.times, np.float64) * NS
    return _part(whole, (times_ns >= start) & (times_ns <= (np.inf if end is None else end)))


def _part(whole: Series, mask: NDArray[np.bool_]) -> Series:
    kept = mask.tolist()
    return Series(tuple(compress(whole.times, kept)), tuple(compress(whole.values, kept)))


def in_flight(evidence: Evidence, times: Sequence[float]) -> list[int]:
    """How many requests had been sent and had not ended, at each of these seconds of the run."""
    table, unclosed = evidence.exchange_table, [o.sent_ns for o in evidence.unclosed]
    began = np.sort(np.concatenate([table["sent_ns"], np.array(unclosed, np.int64)])) / NS
    ended = np.sort(table["done_ns"]) / NS
    found = np.searchsorted(began, times, "right") - np.searchsorted(ended, times, "right")
    return [int(n) for n in found]


def gtt(evidence: Evidence) -> dict[str, Series]:
    """GTT in use on each GPU, in bytes, by the name of its source."""
    return _of_cards(evidence, reading("gtt_used_bytes"))


def vram(evidence: Evidence) -> dict[str, Series]:
    """Memory of its own in use on each GPU, AMD's and NVIDIA's, in bytes, by the name of its source."""
    return _of_cards(evidence, reading("vram_used_bytes"), ("amdgpu:", "nvidia:"))


def gtt_left(evidence: Evidence) -> dict[str, Series]:
    """GTT that each GPU may still take, in bytes, by the name of its source."""
    return _of_cards(evidence, left_of_gtt)


def left_of_gtt(told: Readings) -> Floats:
    """GTT that a GPU may still take, in bytes, of each of its readings."""
    return told.numbers("gtt_total_bytes") - told.numbers("gtt_used_bytes")


def _of_cards(
    evidence: Evidence, numbers: Numbers, kinds: tuple[str, ...] = ("amdgpu:",)
) -> dict[str, Series]:
    names = sorted(name for name in evidence.samples if name.startswith(kinds))
    return {name: series(evidence.samples[name], numbers) for name in names}


def models_loaded(health: Sample) -> set[str]:
    """Names of the models that the front listed in a reading of its health."""
    return {str(name) for name in health.values.get("models_loaded") or () if name}


def silence(told: Readings) -> str:
    """The first reading without a value, in words; empty where each has one."""
    if told.has_value.all():
        return ""
    silent = told.without_value()[0]
    return f"{silent.state}: {clause(silent.reason, 200)}" if silent.reason else silent.state


def near(times: Sequence[float], at: float, within: float = NEAR_S) -> bool:
    """Whether one of these times, which are in order, is close to ``at``."""
    place = bisect_left(times, at - within)
    return place < len(times) and times[place] <= at + within
