"""How requests came to the slots: once, and with the parameters that they were sent with. Pure; no I/O.

A slot shows the seed, the temperature and the limit of tokens of the request that it works on. A request
whose seed was taken away on the way is at no slot to be found, though its answer is being written.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import Sight, by_seed, seeds_of, sights_of
from soakproof.records import Exchange, Opened, Sample

CLOSE = 1e-3  # by which a temperature may differ: slots show it in single precision
LEAST_LOOKS = 3  # at requests whose seeds never show
CERTAIN_LOOKS = 2  # where the temperature that shows is another as well

Request = Exchange | Opened
Asked = tuple[float, int]  # temperature, NaN where none was sent, and limit of tokens


@dataclass(frozen=True)
class Changed:
    """A parameter of a request that its slot shows otherwise."""

    request: Request
    name: str
    asked: float
    shown: float

    @property
    def told(self) -> str:
        return f"{self.request.id} asked for {self.name} {self.asked:g}, its slot shows {self.shown:g}"


@dataclass
class Lost:
    """Requests of one temperature: looks at slots while one was answered, and its seed in them."""

    temperature: float | None
    looks: int = 0
    seen: int = 0
    seedless: int = 0  # of the looks: a slot worked for a request without a seed
    requests: dict[str, None] = field(default_factory=dict)  # their ids, in order
    shown: set[float] = field(default_factory=set)  # temperatures of those without a seed

    @property
    def is_lost(self) -> bool:
        least = CERTAIN_LOOKS if self.is_certain else LEAST_LOOKS
        return not self.seen and self.looks >= least and self.seedless == self.looks

    @property
    def is_certain(self) -> bool:
        """Whether what the slots worked on cannot be what was sent, whatever seeds this server shows."""
        asked = self.temperature
        return asked is not None and bool(self.shown) and all(abs(t - asked) > CLOSE for t in self.shown)


@dataclass(frozen=True)
class Arrivals:
    """What the slots show of this run's requests."""

    looked_at: int  # requests that a slot was seen to work on
    changed: tuple[Changed, ...]  # the first of each request and parameter
    twice: tuple[tuple[Request, float], ...]  # worked on in two places; seconds of the run
    lost: tuple[Lost, ...]

    @property
    def capped(self) -> float | None:
        """The server's own limit of tokens, where all that was changed is lowered to it."""
        limits = [c for c in self.changed if c.name == "max_tokens"]
        shown = {c.shown for c in limits}
        return shown.pop() if len(shown) == 1 and all(c.shown < c.asked for c in limits) else None


def arrivals(evidence: Evidence, samples: Sequence[Sample]) -> Arrivals:
    """From the samples of the slots."""
    asked = _asked(evidence)
    seen: set[int] = set()
    changed: dict[tuple[int, str], tuple[float, float]] = {}
    twice: dict[int, float] = {}
    tasks: dict[int, int] = {}
    anew = any(e.what in ("restart", "vanished") for e in evidence.events)  # tasks are counted anew then
    for sample in samples:
        at_once: set[int] = set()
        for sight in sights_of(sample):
            seed = sight.seed
            if seed is None or seed not in asked:
                continue
            again = tasks.setdefault(seed, sight.task) if sight.task is not None else None
            if seed in at_once or (again is not None and again != sight.task and not anew):
                twice.setdefault(seed, sample.t_ns / NS)
            at_once.add(seed)
            for name, was, shown in _changes(asked[seed], sight):
                changed.setdefault((seed, name), (was, shown))
        seen |= at_once
    ours = _requests(evidence, twice.keys() | {seed for seed, _ in changed})
    return Arrivals(
        looked_at=len(seen),
        changed=tuple(Changed(ours[seed], name, *values) for (seed, name), values in changed.items()),
        twice=tuple((ours[seed], at) for seed, at in twice.items()),
        lost=tuple(group for group in _by_temperature(evidence, samples) if group.is_lost),
    )


def _may_arrive(evidence: Evidence) -> tuple[Table[Exchange], Table[Opened]]:
    """Requests that no refusal was planned for: those that ended, and those that did not."""
    ended, unclosed = evidence.exchange_table, Table(Opened, evidence.unclosed)
    return ended.where(~ended["refusal_planned"]), unclosed.where(~unclosed["refusal_planned"])


def _asked(evidence: Evidence) -> dict[int, Asked]:
    """Temperature and limit of tokens of each request that may arrive, by its seed."""
    found: dict[int, Asked] = {}
    for table in _may_arrive(evidence):
        values = zip(table["temperature"].tolist(), table["max_tokens"].tolist(), strict=True)
        found.update(zip(table["seed"].tolist(), values, strict=True))
    return found


def _requests(evidence: Evidence, seeds: Collection[int]) -> dict[int, Request]:
    """Requests that may arrive, by their seeds."""
    ended, unclosed = _may_arrive(evidence)
    return {**by_seed(ended, seeds), **by_seed(unclosed, seeds)}


def _changes(asked: Asked, sight: Sight) -> Iterator[tuple[str, float, float]]:
    """The name of each parameter that the slot shows otherwise than it was sent, with both values."""
    temperature, max_tokens = asked
    if sight.temperature is not None and abs(temperature - sight.temperature) > CLOSE:
        yield "temperature", temperature, sight.temperature
    if sight.max_tokens is not None and sight.max_tokens != max_tokens:
        yield "max_tokens", max_tokens, sight.max_tokens


def _by_temperature(evidence: Evidence, samples: Sequence[Sample]) -> list[Lost]:
    groups: dict[float | None, Lost] = {}
    table = evidence.exchange_table
    asked = [None if isnan(t) else t for t in table["temperature"].tolist()]
    all_seeds, ids = table["seed"].tolist(), table["id"].tolist()
    for sample, writing in _writing(table, samples):
        seeds = seeds_of(sample)
        seedless = [s.temperature for s in sights_of(sample) if s.seed is None]
        if len(seedless) > (sample.values.get("seedless") or 0):
            continue  # a slot does not say what it works on
        for row in writing:
            group = groups.setdefault(asked[row], Lost(asked[row]))
            group.looks += 1
            group.seen += all_seeds[row] in seeds
            group.seedless += bool(seedless)
            group.requests[ids[row]] = None
            group.shown |= {t for t in seedless if t is not None}
    return list(groups.values())


def _writing(exchanges: Table[Exchange], samples: Sequence[Sample]) -> Iterator[tuple[Sample, list[int]]]:
    """Each sample with the requests that were between their first and their last token all through it, by
    their places in the table.
    """
    first, last = exchanges["first_token_ns"].tolist(), exchanges["last_token_ns"].tolist()
    streamed = np.flatnonzero(exchanges["stream"] & ~np.isnan(exchanges["first_token_ns"])).tolist()
    waiting = sorted(streamed, key=first.__getitem__, reverse=True)
    under_way: list[int] = []
    for sample in sorted(samples, key=lambda s: s.t_ns):
        began = sample.t_ns - sample.took_ns
        while waiting and first[waiting[-1]] < began:
            under_way.append(waiting.pop())
        under_way = [row for row in under_way if last[row] > sample.t_ns]
        if sample.values.get("busy"):
            yield sample, list(under_way)
