"""Waits for a first token that nothing explains: a request was put off although it had nothing to queue for.

Reckoned from the run's own requests: of a wait only a stretch counts throughout which fewer of the others
were at work than the server has slots. What explains a wait is the server's own work on the request, its
neighbours' prompts (llama.cpp begins a request between two batches, and fills each batch from one slot if it
can), the tester's lag, and what the slots show of somebody else's work. No I/O.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from soakproof.clock import NS
from soakproof.judge.claims import timing, whole
from soakproof.judge.evidence import Evidence, load_span
from soakproof.judge.lag import Lags
from soakproof.judge.occupancy import Span, longest_free_ns, spans
from soakproof.judge.series import near
from soakproof.judge.slotwork import seeds_of
from soakproof.judge.waiting import Looks
from soakproof.records import Exchange, Sample

ASLEEP_S = 60.0  # without a request: a server may have put its model to rest
RELOAD_S = 15.0  # around a reading at which one of the server's processes had gone or was another


@dataclass(frozen=True, slots=True)
class Wait:
    """The seconds of a request's wait that nothing explains, as far as that can be known; not below 0."""

    exchange: Exchange
    seconds: float


@dataclass(frozen=True)
class Unexplained:
    """The waits of a run."""

    evidence: Evidence

    @cached_property
    def waits(self) -> list[Wait]:
        """Of every request that can be judged, in order of sending."""
        found: list[Wait] = []
        at_work: list[Span] = []
        awake_ns = load_span(self.evidence)[0]
        all_of = spans(self.evidence)
        for place, span in enumerate(all_of):
            at_work = [other for other in at_work if other.end_ns > span.start_ns]
            asleep = not at_work and span.start_ns - awake_ns > ASLEEP_S * NS
            other_model = place and all_of[place - 1].request.model_asked != span.request.model_asked
            if isinstance(span.request, Exchange) and not asleep and not other_model:
                beside = [*at_work, *_sent_while_waiting(all_of, place)]
                found += self._wait(span.request, beside)
            at_work.append(span)
            awake_ns = max(awake_ns, span.end_ns)
        return found

    def _wait(self, exchange: Exchange, beside: Sequence[Span]) -> Iterator[Wait]:
        """Nothing where something else may have been in its way, or the server's own times are not known."""
        prompt, predicted = timing(exchange, "prompt_ms"), timing(exchange, "predicted_ms")
        sent, first = exchange.sent_ns, exchange.first_token_ns
        if not whole(exchange) or not exchange.stream or first is None or prompt is None or predicted is None:
            return
        free = longest_free_ns(beside, self._slots, sent, first) / NS
        if not free or self._is_excused(exchange, first, beside):
            return
        # What is generated unseen, such as hidden reasoning, lies between the prompt and the first token.
        in_all = (exchange.done_ns - sent) / NS - (prompt + predicted) / 1000
        # A batch that was at work, and what another slot had before this one had its turn.
        neighbours = sum(sorted(s.blocks_ns(sent, first) for s in beside)[-self._slots :]) / NS
        lag = self._lags.within(exchange, sent, first)
        most = min(free - prompt / 1000, in_all, self._until_seen(exchange, first))
        yield Wait(exchange, max(0.0, most - neighbours - lag))

    def _is_excused(self, exchange: Exchange, first_ns: int, beside: Sequence[Span]) -> bool:
        """Whether another model, a reload, or work for somebody else may have been in its way."""
        if any(s.request.model_asked != exchange.model_asked for s in beside):
            return True
        middle, half = (exchange.sent_ns + first_ns) / 2 / NS, (first_ns - exchange.sent_ns) / 2 / NS
        if near(self._reloads, middle, half + RELOAD_S):
            return True
        known = {exchange.seed, *(s.request.seed for s in beside)}
        looks = self._slots_seen.between(exchange.sent_ns, first_ns)
        return any(_shows_others(look, known, len(beside)) for look in looks)

    def _until_seen(self, exchange: Exchange, first_ns: int) -> float:
        """Seconds until a slot was seen at work for it, or until its first token."""
        looks = self._slots_seen.between(exchange.sent_ns, first_ns)
        seen = next((look.t_ns for look in looks if exchange.seed in seeds_of(look)), first_ns)
        return (seen - exchange.sent_ns) / NS

    @property
    def _slots(self) -> int:
        told = self.evidence.target.get("slots")
        return told if isinstance(told, int) else 1

    @cached_property
    def _lags(self) -> Lags:
        return Lags(self.evidence)

    @cached_property
    def _slots_seen(self) -> Looks:
        return Looks(self.evidence.source("slots").with_value())

    @cached_property
    def _reloads(self) -> list[float]:
        return [e.t_ns / NS for e in self.evidence.events if e.what in ("restart", "vanished")]


def _sent_while_waiting(all_of: Sequence[Span], place: int) -> Iterator[Span]:
    until = getattr(all_of[place].request, "first_token_ns", None) or 0
    for later in range(place + 1, len(all_of)):
        if all_of[later].start_ns >= until:
            return
        yield all_of[later]


def _shows_others(look: Sample, known: set[int], beside: int) -> bool:
    """Whether a slot worked for somebody else; without a seed, whether more did than there were requests."""
    seeds = seeds_of(look)
    told = [seed for seed in seeds if seed is not None]
    return any(seed not in known for seed in told) or len(seeds) > max(beside, len(told))
