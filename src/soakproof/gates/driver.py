"""Carries out scenarios under trio: the counterpart of the gevent driver in `soakproof.load`.

The same scenario over the same server gives the same records in both; tests hold them to it.
"""

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import httpx
import trio

from soakproof.clock import RunClock
from soakproof.context import Checked, IterationContext
from soakproof.gates.nursery import open_plain_nursery
from soakproof.gates.slots import SlotsReader
from soakproof.gates.transport import Barrier, Flight, Flights, perform
from soakproof.iteration import Result, Stepper, passed
from soakproof.plan import Bounds, Kind
from soakproof.records import Exchange, Failure, Opened
from soakproof.request import Requests
from soakproof.scenario import (
    Ask,
    AskFailed,
    Finish,
    Released,
    Reply,
    Start,
    Started,
    Together,
    Yield,
)


class Sink(Protocol):
    """Told of everything as it happens."""

    def opened(self, record: Opened, ask: Ask) -> None: ...

    def closed(self, record: Exchange) -> None: ...

    def checked(self, checked: Checked) -> None: ...


@dataclass(eq=False)
class Driver:
    """Runs iterations against one target. Use it inside ``async with driver.flying()``."""

    requests: Requests
    clock: RunClock
    client: httpx.AsyncClient
    chat_url: str
    slots_url: str | None
    bounds: Bounds
    sink: Sink
    flights: Flights = field(init=False)
    stopped: trio.Event = field(default_factory=trio.Event)
    stop_reason: str = ""

    def __post_init__(self) -> None:
        self.flights = Flights(self.requests.around.slots)
        self.slots = SlotsReader(self.slots_url, self.client, self.clock)

    @asynccontextmanager
    async def flying(self) -> AsyncIterator[None]:
        """While the block lasts, exchanges are held to their bounds."""
        async with open_plain_nursery() as nursery:
            nursery.start_soon(self.flights.sweep, self.clock)
            yield
            nursery.cancel_scope.cancel()

    async def run(self, kind: Kind, number: int) -> Result:
        """One iteration, from its first request to its last check."""
        context = self.requests.context(kind.name, number)
        return await _Iteration(self, kind, number, context).play()

    def stop(self, reason: str) -> None:
        """End every exchange in flight, each recorded as stopped, and begin no other."""
        self.stop_reason = reason
        self.stopped.set()
        for flight in list(self.flights):
            flight.stop(reason)

    def open(self, kind: Kind, number: int, ask: Ask, barrier: Barrier | None = None) -> Flight:
        """A request that is about to be sent; its first record is written."""
        now = self.clock.now()
        ready = self.requests.prepare(ask, kind.name, number, now)
        self.sink.opened(ready.record, ask)
        return Flight(
            ready.reading, self.bounds, ask.cancel, ready.prompt_tokens, ask.role, ready.body, barrier
        )

    async def send(self, flight: Flight) -> Exchange:
        """Carry it out, whatever comes of it; its last record is written."""
        try:
            exchange = await perform(flight, self.client, self.chat_url, self.clock, self.flights)
        except trio.Cancelled:
            reason = "ended by the tester before it was whole"
            self._close(flight.reading.broke(self.clock.now(), Failure.STOPPED, reason))
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            self._close(flight.reading.broke(self.clock.now(), Failure.GENERATOR, reason))
            raise
        self._close(exchange)
        return exchange

    def _close(self, exchange: Exchange) -> None:
        self.requests.ended(exchange)
        self.sink.closed(exchange)


@dataclass(eq=False)
class _Flying:
    """A request that a scenario has started."""

    ask: Ask
    flight: Flight
    exchange: Exchange | None = None
    over: trio.Event = field(default_factory=trio.Event)

    def passed(self) -> Exchange:
        """Its exchange, once it is over. Raises AskFailed for one that failed and may not."""
        assert self.exchange is not None, "an exchange that is over has its record"
        return passed(self.ask, self.exchange)


class _Iteration:
    """One iteration under way: its script and the requests that it has started."""

    _nursery: trio.Nursery

    def __init__(self, driver: Driver, kind: Kind, number: int, context: IterationContext) -> None:
        self._driver = driver
        self._kind = kind
        self._number = number
        self._context = context
        self._stepper = Stepper(kind.scenario, context)
        self._told = 0  # checks that the sink knows
        self._started: dict[int, _Flying] = {}
        self._keys = itertools.count(1)

    async def play(self) -> Result:
        try:
            async with open_plain_nursery() as self._nursery:
                await self._steps()
                self._nursery.cancel_scope.cancel()  # what was started and not finished
        except BaseException:
            self._stepper.stop("cancelled from outside")
            raise
        return self._stepper.result()

    async def _steps(self) -> None:
        wanted = self._stepper.begin()
        while wanted is not None:
            self._tell_checks()
            if self._driver.stopped.is_set():
                self._stepper.stop(self._driver.stop_reason)
                return
            try:
                value = await self._carry_out(wanted)
            except AskFailed as failed:
                wanted = self._stepper.fail(failed)
            else:
                wanted = self._stepper.reply(value)
        self._tell_checks()

    def _tell_checks(self) -> None:
        for checked in self._context.checked[self._told :]:
            self._driver.sink.checked(checked)
        self._told = len(self._context.checked)

    async def _carry_out(self, wanted: Yield) -> Reply:
        match wanted:
            case Ask():
                return passed(wanted, await self._driver.send(self._open(wanted)))
            case Together(asks=asks):
                return await self._together(asks)
            case Start(ask=ask):
                return await self._start(ask)
            case Finish(started=started):
                flying = self._started.pop(started.key)
                await flying.over.wait()
                return flying.passed()
            case Released():
                return await self._driver.slots.released(wanted, self._driver.stopped)

    def _open(self, ask: Ask, barrier: Barrier | None = None) -> Flight:
        return self._driver.open(self._kind, self._number, ask, barrier)

    async def _together(self, asks: tuple[Ask, ...]) -> tuple[Exchange, ...]:
        """All connect, wait for each other, then send in the same turn of the loop."""
        barrier = Barrier(len(asks))
        flying = [_Flying(ask, self._open(ask, barrier)) for ask in asks]
        async with open_plain_nursery() as nursery:
            for one in flying:
                nursery.start_soon(self._fly, one)
        return tuple(one.passed() for one in flying)

    async def _start(self, ask: Ask) -> Started:
        flying = _Flying(ask, self._open(ask))
        key = next(self._keys)
        self._started[key] = flying
        self._nursery.start_soon(self._fly, flying)
        await flying.flight.first_token.wait()
        if flying.over.is_set():  # ended before, or at, its first token
            flying.passed()
        return Started(key)

    async def _fly(self, flying: _Flying) -> None:
        try:
            flying.exchange = await self._driver.send(flying.flight)
        finally:
            flying.over.set()
            flying.flight.first_token.set()
