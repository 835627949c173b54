"""Requests that waited in vain, and what the server showed meanwhile: views of evidence. No I/O."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, never_ended
from soakproof.judge.slotwork import seeds_of
from soakproof.judge.table import Array
from soakproof.records import Exchange, Failure, Opened, Sample
from soakproof.samples import Readings

Request = Exchange | Opened
UNANSWERED = (Failure.STALL, Failure.FIRST_TOKEN_TIMEOUT, Failure.HEADERS_TIMEOUT, Failure.TOTAL_TIMEOUT)
LOOKS = 3  # readings that a statement about a wait needs at the least


class Looks:
    """Readings of one source, each at hand: for who asks what was seen in the time of one request."""

    def __init__(self, told: Readings) -> None:
        self.t_ns: list[int] = told.t_ns.tolist()
        self._told = told

    @cached_property
    def samples(self) -> list[Sample]:
        """All of them."""
        return list(self._told)

    def any_between(self, from_ns: Array, until_ns: Array) -> NDArray[np.bool_]:
        """Whether any was completed within each of these times."""
        times = np.array(self.t_ns, np.int64)
        return np.searchsorted(times, from_ns) < np.searchsorted(times, until_ns, "right")

    def between(self, from_ns: int, until_ns: int) -> list[Sample]:
        """Those begun and completed within a time."""
        first, last = bisect_left(self.t_ns, from_ns), bisect_left(self.t_ns, until_ns + 1)
        return [s for s in self.samples[first:last] if s.t_ns - s.took_ns >= from_ns] if last > first else []


@dataclass(frozen=True)
class Waits:
    """A run's requests beside the readings of its slots and of its server's health."""

    evidence: Evidence

    @cached_property
    def slots(self) -> Looks:
        """Readings of the slots that have a value."""
        return Looks(self.evidence.source("slots").with_value())

    @cached_property
    def _health(self) -> Looks:
        return Looks(self.evidence.source("health"))

    @cached_property
    def _all_slots(self) -> Looks:
        return Looks(self.evidence.source("slots"))

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """Streamed requests to the model whose slots are read, those that never ended included.

        Of those that do not stream no first token is seen, and of another model no slot.
        """
        there: tuple[Request, ...] = (*self.evidence.exchanges, *never_ended(self.evidence))
        model = self.evidence.target.get("model")
        return tuple(r for r in there if r.stream and model in (None, r.model_asked))

    def until(self, request: Request) -> int:
        """When its wait ended: at its first token, else at its own end, else with the last reading."""
        if isinstance(request, Exchange):
            return request.done_ns if request.first_token_ns is None else request.first_token_ns
        return max(self.slots.t_ns, default=request.sent_ns)

    def seconds(self, request: Request) -> float:
        return (self.until(request) - request.sent_ns) / NS

    def in_vain(self, request: Request, idle: float) -> bool:
        """Whether it waited more than ``idle`` seconds while every slot was free, as far as was seen."""
        if self.seconds(request) <= idle:
            return False
        seen = self.slots.between(request.sent_ns + round(idle * NS / 4), self.until(request))
        return len(seen) >= LOOKS and all(look.values.get("busy") == 0 for look in seen)

    def health(self, from_ns: int, until_ns: int) -> str:
        """What the server's health said in that time, in words."""
        seen = self._health.between(from_ns, until_ns)
        well = sum(map(_is_well, seen))
        if not seen:
            return "its health was not asked"
        return f"its health answered well in {well} of {len(seen)} readings"

    def wedged(self, exchange: Exchange) -> bool:
        """Whether the slots never answered while this request made nothing, although the health did."""
        if exchange.failure not in UNANSWERED:
            return False
        from_ns = exchange.sent_ns if exchange.last_token_ns is None else exchange.last_token_ns
        slots = self._all_slots.between(from_ns, exchange.done_ns)
        health = self._health.between(from_ns, exchange.done_ns)
        return (
            len(slots) >= LOOKS
            and {look.state for look in slots} == {"timeout"}
            and len(health) >= len(slots)  # it is asked as often at the least
            and all(map(_is_well, health))
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
        for sample in self.slots.between(request.sent_ns, self.until(request)):
            seeds = seeds_of(sample)
            if request.seed in seeds:
                break
            if None in seeds:
                return ()
            waiting.append(sample)
        return waiting

    @cached_property
    def _answered(self) -> Sequence[Exchange]:
        table = self.evidence.exchange_table
        return table.where(~np.isnan(table["first_token_ns"])).records

    @cached_property
    def _sent(self) -> list[int]:
        return [e.sent_ns for e in self._answered]


def _is_well(look: Sample) -> bool:
    return look.state == "value" and look.values.get("ok") is True
