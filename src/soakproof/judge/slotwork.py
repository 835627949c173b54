"""Whose work a busy slot does, told by the seed of its request: views of evidence for judging. No I/O."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Array, Table
from soakproof.judge.evidence import Evidence, load_span
from soakproof.judge.telling import counted
from soakproof.records import Exchange, Opened, Sample

R = TypeVar("R", Exchange, Opened)
DECODE = "decode"
LATE_PHASES = ("queued", "prefill", "unstreamed")  # in these a server may notice late that its client left


@dataclass(frozen=True)
class Sight:
    """One look at a busy slot; None is what it did not tell."""

    t_ns: int
    seed: int | None
    task: int | None
    decoded: int | None  # tokens generated
    prompt: int | None  # tokens of the prompt processed
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True)
class Outlived:
    """A request that a slot was seen to work for after the request's end."""

    exchange: Exchange
    phase: str
    seconds: float  # from the exchange's end to the last sight of it
    sights: tuple[Sight, ...]  # after its end

    @property
    def generated(self) -> int | None:
        """Tokens from the first sight to the last; None where they were not told."""
        first, last = self.sights[0].decoded, self.sights[-1].decoded
        return None if first is None or last is None else max(0, last - first)

    @property
    def generating_s(self) -> float:
        """Seconds through which it was seen to generate, not merely to read its prompt."""
        at_it = [s.t_ns for s in self.sights if s.decoded]
        return (at_it[-1] - at_it[0]) / NS if at_it else 0.0

    @property
    def told(self) -> str:
        held = f"{self.exchange.id} ({self.phase}) held a slot for {self.seconds:.1f} s after its end"
        first, last = self.sights[0], self.sights[-1]
        if last.decoded:
            return held + _progress(first.decoded, last.decoded, "tokens", "generated")
        return held + _progress(first.prompt, last.prompt, "tokens of its prompt", "processed")


def _progress(first: int | None, last: int | None, what: str, done: str) -> str:
    if first is None or last is None:
        return ""
    return f", frozen at {last} {what}" if first == last else f", from {first} to {last} {what} {done}"


def sightings(evidence: Evidence) -> tuple[Sample, ...]:
    """Samples of the slots that tell how many were busy: others show nothing of them."""
    told = evidence.source("slots")
    return tuple(told.take(~np.isnan(told.numbers("busy"))))


def seeds_of(sample: Sample) -> list[int | None]:
    """The seeds of a sample's busy slots; one that was not told is None."""
    seeds = list(sample.values.get("seeds") or ())
    return seeds + [None] * ((sample.values.get("busy") or 0) - len(seeds))


def of_its_model(evidence: Evidence, models: Array) -> NDArray[np.bool_]:
    """Which requests, by the models that they asked for, are to the one whose slots are read; all where that
    is not known.
    """
    model = evidence.target.get("model")
    return np.array([model in (None, asked) for asked in models.tolist()], bool)


def by_seed(requests: Table[R], seeds: Collection[int]) -> dict[int, R]:
    """The requests of some seeds; the last one of a seed that came twice."""
    wanted = np.array([seed in seeds for seed in requests["seed"].tolist()], bool)
    return {request.seed: request for request in requests.where(wanted).records}


def planned_phase(cancel: str | None) -> str:
    """What a cancel that was planned so is meant to hit, such as "prefill"; empty where none was planned."""
    return (cancel or "").partition(":")[0].strip()


def phase_at_end(exchange: Exchange) -> str:
    """What the request was doing when it ended: queued, prefill, unstreamed or decode."""
    began = exchange.first_token_ns is not None
    return _phase(exchange.stream, exchange.cancel_planned, began, exchange.outcome)


def phases_at_end(exchanges: Table[Exchange]) -> list[str]:
    """The same of each."""
    began = ~np.isnan(exchanges["first_token_ns"])
    columns = (exchanges["stream"], exchanges["cancel_planned"], began, exchanges["outcome"])
    return [_phase(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]


def _phase(stream: bool, cancel: str | None, began: bool, outcome: str) -> str:
    if not stream:
        return "unstreamed"
    if (planned := planned_phase(cancel)) in LATE_PHASES:
        return planned
    return DECODE if began or outcome == "ok" else "prefill"


def sights_of(sample: Sample) -> list[Sight]:
    """A look at each of a sample's busy slots."""

    def told(name: str, place: int) -> Any:
        listed = sample.values.get(name) or ()
        return listed[place] if place < len(listed) else None

    return [
        Sight(
            sample.t_ns,
            seed,
            task=told("tasks", n),
            decoded=told("decoded", n),
            prompt=told("prompt_processed", n),
            temperature=told("temperatures", n),
            max_tokens=told("max_tokens", n),
        )
        for n, seed in enumerate(seeds_of(sample))
    ]


def outlived(evidence: Evidence, samples: Sequence[Sample]) -> list[Outlived]:
    """Every exchange that a slot was seen to work for after its end, in readings begun after that end."""
    table = evidence.exchange_table
    done_ns = dict(zip(table["seed"].tolist(), table["done_ns"].tolist(), strict=True))
    seen: dict[int, list[Sight]] = {}
    for sample in samples:
        for sight in sights_of(sample):
            ended = done_ns.get(sight.seed) if sight.seed is not None else None
            if sight.seed is not None and ended is not None and sample.t_ns - sample.took_ns > ended:
                seen.setdefault(sight.seed, []).append(sight)
    owners = by_seed(table, seen)
    return [_outlived(owners[seed], sights) for seed, sights in seen.items()]


def outlived_tasks(
    evidence: Evidence, samples: Sequence[Sample], bound: Callable[[str], float]
) -> list[Outlived]:
    """The same of slots that tell a task and no seed: each task that was seen after the end of every request
    of this run that may own it, by more than their bounds in seconds, as of the one that ended last.

    Those are all that were sent before it was first seen. A task that may belong to a request of unknown end
    is left out. Whether it is somebody else's cannot be told.
    """
    table, found = evidence.exchange_table, []
    tasks = list(_tasks_held(evidence, samples))
    bounds = np.array([bound(phase) for phase in phases_at_end(table)]) if tasks else np.zeros(0)
    for sights, owners in tasks:
        seconds = (sights[-1].t_ns - table["done_ns"][:owners]) / NS
        if (seconds > bounds[:owners]).all():
            nearest = np.arange(len(table)) == np.argmin(seconds)
            found += [_outlived(owner, sights) for owner in table.where(nearest).records]
    return found


def _tasks_held(evidence: Evidence, samples: Sequence[Sample]) -> Iterator[tuple[list[Sight], int]]:
    """What was seen of each task that went on after all requests that may own it, with their number: those
    that had been sent.
    """
    seen: dict[int, list[Sight]] = {}
    for sight in (sight for sample in samples for sight in sights_of(sample)):
        if sight.seed is None and sight.task is not None:
            seen.setdefault(sight.task, []).append(sight)
    sent = evidence.exchange_table["sent_ns"].tolist()
    ended = np.maximum.accumulate(evidence.exchange_table["done_ns"])  # the last of all up to each
    first_unclosed = min((o.sent_ns for o in evidence.unclosed), default=None)
    for sights in seen.values():
        began = sights[0].t_ns
        owners = bisect_left(sent, began)
        is_known = first_unclosed is None or first_unclosed > began
        if len(sights) > 1 and owners and is_known and sights[-1].t_ns > ended[owners - 1]:
            yield sights, owners


def _outlived(exchange: Exchange, sights: Sequence[Sight]) -> Outlived:
    seconds = (sights[-1].t_ns - exchange.done_ns) / NS
    return Outlived(exchange, phase_at_end(exchange), seconds, tuple(sights))


@dataclass(frozen=True)
class AfterLoad:
    """The slots as they were last seen after the load; ``busy`` None: nobody looked."""

    busy: int | None = None
    seeds: tuple[int, ...] = ()
    at_ns: int | None = None


def after_load(evidence: Evidence, samples: Sequence[Sample]) -> AfterLoad:
    """From the load's own last look, else from the watch's last sample if it is later than the load."""
    final = next((e for e in reversed(evidence.events) if e.what == "final_slots"), None)
    if final is not None and final.details.get("busy") is not None:
        seeds = tuple(s for s in final.details.get("seeds") or () if s is not None)
        return AfterLoad(int(final.details["busy"]), seeds, final.t_ns)
    _, ended = load_span(evidence)
    if not samples or ended is None or samples[-1].t_ns - samples[-1].took_ns < ended:
        return AfterLoad()
    last = samples[-1]
    seeds = tuple(s for s in seeds_of(last) if s is not None)
    return AfterLoad(last.values.get("busy"), seeds, last.t_ns - last.took_ns)


def resolution(samples: Sequence[Sample]) -> str:
    """How finely these readings saw the run, in words."""
    span = (samples[-1].t_ns - samples[0].t_ns) / NS
    every = f", one every {span / (len(samples) - 1):.1f} s" if len(samples) > 1 else ""
    return f"{counted(len(samples), 'sample')}{every}: what is shorter is not seen"
