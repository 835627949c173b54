"""Whose work a busy slot does, told by the seed of its request: views of evidence for judging. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.records import Exchange, Sample

DECODE = "decode"
LATE_PHASES = ("queued", "prefill", "unstreamed")  # in these a server may notice late that its client left


@dataclass(frozen=True)
class Outlived:
    """A request that a slot was seen to work for after the request's end."""

    exchange: Exchange
    phase: str
    seconds: float  # from the exchange's end to the last sight of it
    decoded: tuple[int | None, int | None]  # tokens at the first and the last sight after its end

    @property
    def told(self) -> str:
        first, last = self.decoded
        if first is None or last is None:
            work = ""
        elif first == last:
            work = f", frozen at {last} tokens"
        else:
            work = f", from {first} to {last} tokens generated"
        return f"{self.exchange.id} ({self.phase}) held a slot for {self.seconds:.1f} s after its end{work}"


def sightings(evidence: Evidence) -> tuple[Sample, ...]:
    """Samples of the slots in which something was seen."""
    return tuple(s for s in evidence.samples.get("slots", ()) if s.state == "value")


def seeds_of(sample: Sample) -> list[int | None]:
    """The seeds of a sample's busy slots; one that was not told is None."""
    seeds = list(sample.values.get("seeds") or ())
    return seeds + [None] * ((sample.values.get("busy") or 0) - len(seeds))


def planned_phase(exchange: Exchange) -> str:
    """What a planned cancel is meant to hit, such as "prefill"; empty where none was planned."""
    return (exchange.cancel_planned or "").partition(":")[0].strip()


def phase_at_end(exchange: Exchange) -> str:
    """What the request was doing when it ended: queued, prefill, unstreamed or decode."""
    if not exchange.stream:
        return "unstreamed"
    planned = planned_phase(exchange)
    if planned in LATE_PHASES:
        return planned
    return "prefill" if exchange.first_token_ns is None and exchange.outcome != "ok" else DECODE


def outlived(evidence: Evidence, samples: Sequence[Sample]) -> list[Outlived]:
    """Every exchange that a slot was seen to work for after its end, in readings begun after that end."""
    ended = {e.seed: e for e in evidence.exchanges}
    seen: dict[int, list[tuple[int, int | None]]] = {}
    for sample in samples:
        decoded = list(sample.values.get("decoded") or ())
        for place, seed in enumerate(seeds_of(sample)):
            if seed in ended and sample.t_ns - sample.took_ns > ended[seed].done_ns:
                tokens = decoded[place] if place < len(decoded) else None
                seen.setdefault(seed, []).append((sample.t_ns, tokens))
    return [_outlived(ended[seed], sights) for seed, sights in seen.items()]


def _outlived(exchange: Exchange, sights: Sequence[tuple[int, int | None]]) -> Outlived:
    (_, first), (until, last) = sights[0], sights[-1]
    return Outlived(exchange, phase_at_end(exchange), (until - exchange.done_ns) / NS, (first, last))


@dataclass(frozen=True)
class AfterLoad:
    """The slots as they were last seen after the load; ``busy`` None: nobody looked."""

    busy: int | None = None
    seeds: tuple[int, ...] = ()
    at: float | None = None  # seconds of the run


def after_load(evidence: Evidence, samples: Sequence[Sample]) -> AfterLoad:
    """From the load's own last look, else from the watch's last sample if it is later than the load."""
    final = next((e for e in reversed(evidence.events) if e.what == "final_slots"), None)
    if final is not None and final.details.get("busy") is not None:
        seeds = tuple(s for s in final.details.get("seeds") or () if s is not None)
        return AfterLoad(int(final.details["busy"]), seeds, final.t_ns / NS)
    _, ended = load_span(evidence)
    if not samples or ended is None or samples[-1].t_ns < ended:
        return AfterLoad()
    last = samples[-1]
    seeds = tuple(s for s in seeds_of(last) if s is not None)
    return AfterLoad(last.values.get("busy"), seeds, last.t_ns / NS)
