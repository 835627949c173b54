"""Requests that waited in vain, and what the server showed meanwhile: views of evidence. No I/O."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Array, Table
from soakproof.judge.evidence import Evidence, never_ended
from soakproof.judge.slotwork import of_its_model, seeds_of
from soakproof.records import Exchange, Failure, Opened, Sample
from soakproof.samples import Readings

Request = Exchange | Opened
R = TypeVar("R", Exchange, Opened)
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

    def are_between(self, from_ns: Array, until_ns: Array, least: int = 1) -> NDArray[np.bool_]:
        """Whether so many were completed within each of these times."""
        times = self._told.t_ns
        return np.asarray(
            np.searchsorted(times, until_ns, "right") - np.searchsorted(times, from_ns) >= least, bool
        )

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
    def ended(self) -> Table[Exchange]:
        """Streamed requests to the model whose slots are read, as far as they ended.

        Of those that do not stream no first token is seen, and of another model no slot.
        """
        return self._shown(self.evidence.exchange_table)

    @cached_property
    def never_ended(self) -> tuple[Opened, ...]:
        """The same that never ended."""
        return tuple(self._shown(Table(Opened, never_ended(self.evidence))).records)

    def _shown(self, table: Table[R]) -> Table[R]:
        return table.where(table["stream"] & of_its_model(self.evidence, table["model_asked"]))

    def __len__(self) -> int:
        return len(self.ended) + len(self.never_ended)

    @cached_property
    def _until_ns(self) -> Array:
        """When the wait of each that ended was over."""
        first = self.ended["first_token_ns"]
        return np.where(np.isnan(first), self.ended["done_ns"], first)

    def until(self, request: Request) -> int:
        """When its wait ended: at its first token, else at its own end, else with the last reading."""
        if isinstance(request, Exchange):
            return request.done_ns if request.first_token_ns is None else request.first_token_ns
        return max(self.slots.t_ns, default=request.sent_ns)

    def seconds(self, request: Request) -> float:
        return (self.until(request) - request.sent_ns) / NS

    def in_vain(self, idle: float) -> list[Request]:
        """Those that waited more than ``idle`` seconds while every slot was free, as far as was seen."""
        sent, until, later = self.ended["sent_ns"], self._until_ns, round(idle * NS / 4)
        long = (until - sent) / NS > idle
        long &= self.slots.are_between(sent + later, until, LOOKS)
        waited: list[Request] = list(self.ended.where(long).records)
        waited += [request for request in self.never_ended if self.seconds(request) > idle]
        return [request for request in waited if self._all_free(request, later)]

    def _all_free(self, request: Request, later_ns: int) -> bool:
        """Whether every slot was seen to be free from so much after its sending on."""
        seen = self.slots.between(request.sent_ns + later_ns, self.until(request))
        return len(seen) >= LOOKS and all(look.values.get("busy") == 0 for look in seen)

    def health(self, from_ns: int, until_ns: int) -> str:
        """What the server's health said in that time, in words."""
        seen = self._health.between(from_ns, until_ns)
        well = sum(map(_is_well, seen))
        if not seen:
            return "its health was not asked"
        return f"its health answered well in {well} of {len(seen)} readings"

    @cached_property
    def unanswered(self) -> Table[Exchange]:
        """Exchanges that failed for want of an answer."""
        table = self.evidence.exchange_table
        return table.where(np.array([failure in UNANSWERED for failure in table["failure"].tolist()], bool))

    def wedged(self, exchange: Exchange) -> bool:
        """Whether the slots never answered while this one of them made nothing, although the health did."""
        from_ns = exchange.sent_ns if exchange.last_token_ns is None else exchange.last_token_ns
        slots = self._all_slots.between(from_ns, exchange.done_ns)
        health = self._health.between(from_ns, exchange.done_ns)
        return (
            len(slots) >= LOOKS
            and {look.state for look in slots} == {"timeout"}
            and len(health) >= len(slots)  # it is asked as often at the least
            and all(map(_is_well, health))
        )

    def overtaken(self) -> list[tuple[Request, int]]:
        """How many requests sent later began to be answered while each was in no slot yet; of those whose
        wait the slots show.

        Counted up to the last reading in which it was not at work, so that a start between two readings
        counts against nobody.
        """
        shown = self.slots.are_between(self.ended["sent_ns"], self._until_ns, LOOKS)
        waited: list[Request] = [*self.ended.where(shown).records, *self.never_ended]
        return [(request, self._overtook(request)) for request in waited]

    def _overtook(self, request: Request) -> int:
        waiting = self._not_at_work(request)
        if len(waiting) < LOOKS:
            return 0
        last = waiting[-1].t_ns - waiting[-1].took_ns
        sent = self._answered["sent_ns"]
        later = slice(np.searchsorted(sent, request.sent_ns, "right"), np.searchsorted(sent, last))
        first, models = self._answered["first_token_ns"][later], self._answered["model_asked"][later]
        return int(((models == request.model_asked) & (first < last)).sum())

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
    def _answered(self) -> Table[Exchange]:
        table = self.evidence.exchange_table
        return table.where(~np.isnan(table["first_token_ns"]))


def _is_well(look: Sample) -> bool:
    return look.state == "value" and look.values.get("ok") is True
