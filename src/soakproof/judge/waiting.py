"""Requests that waited in vain, and what the server showed meanwhile: views of evidence. No I/O."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import seeds_of
from soakproof.records import Exchange, Failure, Opened, Sample
from soakproof.samples import Readings

Request = Exchange | Opened
UNANSWERED = (Failure.STALL, Failure.FIRST_TOKEN_TIMEOUT, Failure.HEADERS_TIMEOUT, Failure.TOTAL_TIMEOUT)
LOOKS = 3  # readings that a statement about a wait needs at the least


@dataclass(frozen=True)
class Waits:
    """A run's requests beside the readings of its slots and of its server's health."""

    evidence: Evidence

    @cached_property
    def slots(self) -> Readings:
        """Readings of the slots that have a value."""
        return self.evidence.source("slots").with_value()

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """Streamed requests to the model whose slots are read, those without an end included.

        Of those that do not stream no first token is seen, and of another model no slot.
        """
        there: tuple[Request, ...] = (*self.evidence.exchanges, *self.evidence.unclosed)
        model = self.evidence.target.get("model")
        return tuple(r for r in there if r.stream and model in (None, r.model_asked))

    def until(self, request: Request) -> int:
        """When its wait ended: at its first token, else at its own end, else with the last reading."""
        if isinstance(request, Exchange):
            return request.done_ns if request.first_token_ns is None else request.first_token_ns
        return int(self.slots.t_ns.max(initial=request.sent_ns))

    def seconds(self, request: Request) -> float:
        return (self.until(request) - request.sent_ns) / NS

    def in_vain(self, request: Request, idle: float) -> bool:
        """Whether it waited more than ``idle`` seconds while every slot was free, as far as was seen."""
        if self.seconds(request) <= idle:
            return False
        seen = between(self.slots, request.sent_ns + round(idle * NS / 4), self.until(request))
        return len(seen) >= LOOKS and bool((seen.numbers("busy") == 0).all())

    def health(self, from_ns: int, until_ns: int) -> str:
        """What the server's health said in that time, in words."""
        seen = between(self.evidence.source("health"), from_ns, until_ns)
        well = sum(_is_well(seen))
        if not len(seen):
            return "its health was not asked"
        return f"its health answered well in {well} of {len(seen)} readings"

    def wedged(self, exchange: Exchange) -> bool:
        """Whether the slots never answered while this request made nothing, although the health did."""
        if exchange.failure not in UNANSWERED:
            return False
        from_ns = exchange.sent_ns if exchange.last_token_ns is None else exchange.last_token_ns
        slots = between(self.evidence.source("slots"), from_ns, exchange.done_ns)
        health = between(self.evidence.source("health"), from_ns, exchange.done_ns)
        return (
            len(slots) >= LOOKS
            and set(slots.states()) == {"timeout"}
            and len(health) >= len(slots)  # it is asked as often at the least
            and all(_is_well(health))
        )

    def overtaken(self, request: Request) -> list[Exchange]:
        """Requests sent later that began to be answered while this one was in no slot yet.

        Counted up to the last reading in which it was not at work, so that a start between two readings
        counts against nobody. Empty where the slots did not show it.
        """
        waiting = self._not_at_work(request)
        if len(waiting) < LOOKS:
            return []
        last = waiting[-1].t_ns - waiting[-1].took_ns
        begin, end = (bisect_left(self._sent, at) for at in (request.sent_ns + 1, last))
        later = self._answered[begin:end]
        return [
            e for e in later if e.model_asked == request.model_asked and (e.first_token_ns or last) < last
        ]

    def _not_at_work(self, request: Request) -> Sequence[Sample]:
        """Readings from its sending to its start in which no slot works for it."""
        waiting: list[Sample] = []
        for sample in between(self.slots, request.sent_ns, self.until(request)):
            seeds = seeds_of(sample)
            if request.seed in seeds:
                break
            if None in seeds:
                return ()
            waiting.append(sample)
        return waiting

    @cached_property
    def _answered(self) -> list[Exchange]:
        return [e for e in self.evidence.exchanges if e.first_token_ns is not None]

    @cached_property
    def _sent(self) -> list[int]:
        return [e.sent_ns for e in self._answered]


def between(told: Readings, from_ns: int, until_ns: int) -> Readings:
    """Readings begun and completed within a time."""
    first, last = np.searchsorted(told.t_ns, (from_ns, until_ns + 1))
    near = told[int(first) : int(last)]
    return near.take(near.t_ns - near.took_ns >= from_ns)


def _is_well(health: Readings) -> list[bool]:
    return [bool(has) and ok is True for has, ok in zip(health.has_value, health.told("ok"), strict=True)]
