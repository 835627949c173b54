"""How requests came to the slots: once, and with the parameters that they were sent with. Pure; no I/O.

A slot shows the seed, the temperature and the limit of tokens of the request that it works on. A request
whose seed was taken away on the way is at no slot to be found, though its answer is being written.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import Sight, seeds_of, sights_of
from soakproof.records import Exchange, Opened, Sample

CLOSE = 1e-3  # by which a temperature may differ: slots show it in single precision
LEAST_LOOKS = 3  # at requests whose seeds never show
CERTAIN_LOOKS = 2  # where the temperature that shows is another as well

Request = Exchange | Opened


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
    requests: dict[str, Exchange] = field(default_factory=dict)
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
    requests: list[Request] = [*evidence.exchanges, *evidence.unclosed]
    ours = {r.seed: r for r in requests if not r.refusal_planned}
    seen: set[int] = set()
    changed: dict[tuple[int, str], Changed] = {}
    twice: dict[int, float] = {}
    tasks: dict[int, int] = {}
    anew = any(e.what in ("restart", "vanished") for e in evidence.events)  # tasks are counted anew then
    for sample in samples:
        at_once: set[int] = set()
        for sight in sights_of(sample):
            request = ours.get(sight.seed) if sight.seed is not None else None
            if request is None:
                continue
            again = tasks.setdefault(request.seed, sight.task) if sight.task is not None else None
            if request.seed in at_once or (again is not None and again != sight.task and not anew):
                twice.setdefault(request.seed, sample.t_ns / NS)
            at_once.add(request.seed)
            for found in _changes(request, sight):
                changed.setdefault((request.seed, found.name), found)
        seen |= at_once
    return Arrivals(
        looked_at=len(seen),
        changed=tuple(changed.values()),
        twice=tuple((ours[seed], at) for seed, at in twice.items()),
        lost=tuple(group for group in _by_temperature(evidence, samples) if group.is_lost),
    )


def _changes(request: Request, sight: Sight) -> Iterator[Changed]:
    asked, shown = request.temperature, sight.temperature
    if asked is not None and shown is not None and abs(asked - shown) > CLOSE:
        yield Changed(request, "temperature", asked, shown)
    limit = sight.max_tokens
    if limit is not None and limit != request.max_tokens:
        yield Changed(request, "max_tokens", request.max_tokens, limit)


def _by_temperature(evidence: Evidence, samples: Sequence[Sample]) -> list[Lost]:
    groups: dict[float | None, Lost] = {}
    for sample, writing in _writing(evidence, samples):
        seeds = seeds_of(sample)
        seedless = [s.temperature for s in sights_of(sample) if s.seed is None]
        if len(seedless) > (sample.values.get("seedless") or 0):
            continue  # a slot does not say what it works on
        for exchange in writing:
            group = groups.setdefault(exchange.temperature, Lost(exchange.temperature))
            group.looks += 1
            group.seen += exchange.seed in seeds
            group.seedless += bool(seedless)
            group.requests[exchange.id] = exchange
            group.shown |= {t for t in seedless if t is not None}
    return list(groups.values())


def _writing(evidence: Evidence, samples: Sequence[Sample]) -> Iterator[tuple[Sample, list[Exchange]]]:
    """Each sample with the requests that were between their first and their last token all through it."""
    waiting = sorted(
        (e for e in evidence.exchanges if e.first_token_ns is not None and e.stream),
        key=lambda e: e.first_token_ns or 0,
        reverse=True,
    )
    under_way: list[Exchange] = []
    for sample in sorted(samples, key=lambda s: s.t_ns):
        began = sample.t_ns - sample.took_ns
        while waiting and (waiting[-1].first_token_ns or 0) < began:
            under_way.append(waiting.pop())
        under_way = [e for e in under_way if (e.last_token_ns or 0) > sample.t_ns]
        if sample.values.get("busy"):
            yield sample, list(under_way)
