"""Samples as series of numbers: one value over time, of one process, or while the server was idle. No I/O."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.metrics import number
from soakproof.plain import plain
from soakproof.records import Sample

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


def series(samples: Iterable[Sample], value: Callable[[Sample], float | None]) -> Series:
    """What could be read, in order; what could not is left out, never 0."""
    found = [(s.t_ns / NS, v) for s in samples if s.state == "value" and (v := value(s)) is not None]
    return Series(tuple(t for t, _ in found), tuple(v for _, v in found))


def reading(name: str) -> Callable[[Sample], float | None]:
    """Reads one value of a sample by its name."""
    return lambda sample: number(sample.values.get(name))


def held(sample: Sample) -> float | None:
    """RssAnon and VmSwap of a process and of those below it, in bytes: what is held, swapped out or not."""
    own = ("rss_anon_bytes", "swap_bytes")
    names = (*own, *(f"children_{name}" for name in own)) if sample.values.get("children") else own
    parts = [reading(name)(sample) for name in names]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def one_process(samples: Sequence[Sample]) -> tuple[list[Sample], int]:
    """The samples of the process that was seen most often, and how many processes there were."""
    by_process: dict[tuple[Any, Any], list[Sample]] = {}
    for sample in samples:
        if sample.state == "value":
            by_process.setdefault((sample.values.get("pid"), sample.values.get("created")), []).append(sample)
    return max(by_process.values(), key=len, default=[]), len(by_process)


def while_idle(evidence: Evidence, whole: Series) -> Series:
    """The part of a series that was read while every slot was free."""
    idle = [
        s.t_ns / NS
        for s in evidence.samples.get("slots", ())
        if s.state == "value" and s.values.get("busy") == 0
    ]
    kept = [(t, v) for t, v in zip(whole.times, whole.values, strict=True) if near(idle, t)]
    return Series(tuple(t for t, _ in kept), tuple(v for _, v in kept))


def during_load(evidence: Evidence, whole: Series) -> Series:
    """The part of a series that was read while the load ran."""
    start, end = load_span(evidence)
    kept = [
        (t, v)
        for t, v in zip(whole.times, whole.values, strict=True)
        if start <= t * NS and (end is None or t * NS <= end)
    ]
    return Series(tuple(t for t, _ in kept), tuple(v for _, v in kept))


def in_flight(evidence: Evidence, times: Sequence[float]) -> list[int]:
    """How many requests had been sent and had not ended, at each of these seconds of the run."""
    sent = [e.sent_ns for e in evidence.exchanges] + [o.sent_ns for o in evidence.unclosed]
    began = sorted(t / NS for t in sent)
    ended = sorted(e.done_ns / NS for e in evidence.exchanges)
    return [bisect_right(began, t) - bisect_right(ended, t) for t in times]


def gtt(evidence: Evidence) -> dict[str, Series]:
    """GTT in use on each GPU, in bytes, by the name of its source."""
    return _of_cards(evidence, reading("gtt_used_bytes"))


def vram(evidence: Evidence) -> dict[str, Series]:
    """Memory of its own in use on each GPU, AMD's and NVIDIA's, in bytes, by the name of its source."""
    return _of_cards(evidence, reading("vram_used_bytes"), ("amdgpu:", "nvidia:"))


def gtt_left(evidence: Evidence) -> dict[str, Series]:
    """GTT that each GPU may still take, in bytes, by the name of its source."""
    total, used = reading("gtt_total_bytes"), reading("gtt_used_bytes")

    def left(sample: Sample) -> float | None:
        of, taken = total(sample), used(sample)
        return None if of is None or taken is None else of - taken

    return _of_cards(evidence, left)


def _of_cards(
    evidence: Evidence, value: Callable[[Sample], float | None], kinds: tuple[str, ...] = ("amdgpu:",)
) -> dict[str, Series]:
    names = sorted(name for name in evidence.samples if name.startswith(kinds))
    return {name: series(evidence.samples[name], value) for name in names}


def models_loaded(health: Sample) -> set[str]:
    """Names of the models that the front listed in a reading of its health."""
    return {str(name) for name in health.values.get("models_loaded") or () if name}


def silence(samples: Iterable[Sample]) -> str:
    """The first reading without a value, in words; empty where each has one."""
    silent = next((s for s in samples if s.state != "value"), None)
    if silent is None:
        return ""
    return f"{silent.state}: {plain(silent.reason, 200)}" if silent.reason else silent.state


def near(times: Sequence[float], at: float, within: float = NEAR_S) -> bool:
    """Whether one of these times, which are in order, is close to ``at``."""
    place = bisect_left(times, at - within)
    return place < len(times) and times[place] <= at + within
