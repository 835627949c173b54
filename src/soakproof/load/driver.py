"""Carries out scenarios under gevent: the counterpart of the trio driver in `soakproof.gates`.

Knows nothing of Locust: exchanges and checks go to a `Sink`, which writes them down and tells Locust.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import gevent
from gevent.event import Event

from soakproof.clock import RunClock
from soakproof.iteration import Result, Stepper, passed
from soakproof.load.slots import SlotsReader
from soakproof.load.transport import Endpoint, Flight, Sweeper, perform
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
    """Where records go."""

    def opened(self, record: Opened) -> None: ...

    def closed(self, record: Exchange) -> None: ...


@dataclass(eq=False)
class Driver:
    """Runs iterations against one target. One for a run; safe from any number of greenlets."""

    requests: Requests
    clock: RunClock
    endpoint: Endpoint
    bounds: Bounds
    sink: Sink
    slots: SlotsReader

    def __post_init__(self) -> None:
        self.sweeper = Sweeper(self.clock, self.requests.around.slots)

    def run(self, kind: Kind, number: int) -> Result:
        """One iteration, from its first request to its last check."""
        context = self.requests.context(kind.name, number)
        return _Iteration(self, kind, number, Stepper(kind.scenario, context)).play()

    def stop(self, reason: str) -> None:
        """End every exchange in flight; each is recorded as stopped."""
        for flight in list(self.sweeper.flights):
            flight.stop(reason)

    def close(self) -> None:
        self.sweeper.close()

    def exchange(
        self,
        kind: Kind,
        number: int,
        ask: Ask,
        *,
        ready: Callable[[], None] | None = None,
        first_token: Event | None = None,
    ) -> Exchange:
        """Send one request, whatever comes of it; both its records are written."""
        now = self.clock.now()
        prepared = self.requests.prepare(ask, kind.name, number, now)
        reading = prepared.reading
        self.sink.opened(prepared.record)
        flight = Flight(reading, self.bounds, ask.cancel, prepared.prompt_tokens)
        try:
            exchange = perform(
                flight,
                self.endpoint,
                prepared.body,
                self.clock,
                self.sweeper,
                ready=ready,
                first_token=first_token,
            )
        except BaseException as error:  # killed, or a fault of ours: the request still gets its record
            what = Failure.STOPPED if isinstance(error, gevent.GreenletExit) else Failure.GENERATOR
            self._close(reading.broke(self.clock.now(), what, f"{type(error).__name__}: {error}"))
            raise
        self._close(exchange)
        return exchange

    def _close(self, exchange: Exchange) -> None:
        self.requests.ended(exchange)
        self.slots.looks.answered(exchange)
        self.sink.closed(exchange)


class _Iteration:
    """One iteration under way: its script and the requests that it has started."""

    def __init__(self, driver: Driver, kind: Kind, number: int, stepper: Stepper) -> None:
        self._driver = driver
        self._kind = kind
        self._number = number
        self._stepper = stepper
        self._started: dict[int, tuple[Ask, gevent.Greenlet]] = {}
        self._keys = itertools.count(1)

    def play(self) -> Result:
        try:
            wanted = self._stepper.begin()
            while wanted is not None:
                try:
                    value = self._carry_out(wanted)
                except AskFailed as failed:
                    wanted = self._stepper.fail(failed)
                else:
                    wanted = self._stepper.reply(value)
        except gevent.GreenletExit:
            self._stepper.stop("the user was killed")
        finally:
            self._end_started()
        return self._stepper.result()

    def _carry_out(self, wanted: Yield) -> Reply:
        match wanted:
            case Ask():
                return passed(wanted, self._exchange(wanted))
            case Together(asks=asks):
                return self._together(asks)
            case Start(ask=ask):
                return self._start(ask)
            case Finish(started=started):
                ask, greenlet = self._started.pop(started.key)
                return passed(ask, greenlet.get())
            case Released():
                return self._driver.slots.released(wanted)

    def _exchange(self, ask: Ask, **callbacks: object) -> Exchange:
        return self._driver.exchange(self._kind, self._number, ask, **callbacks)  # type: ignore[arg-type]

    def _together(self, asks: tuple[Ask, ...]) -> tuple[Exchange, ...]:
        """All connect, wait for each other, then send in the same turn of the loop."""
        connected = itertools.count(1)
        go = Event()

        def ready() -> None:
            if next(connected) == len(asks):
                go.set()
            go.wait()

        greenlets = [gevent.spawn(self._exchange, ask, ready=ready) for ask in asks]
        try:
            gevent.joinall(greenlets)
        except BaseException:
            gevent.killall(greenlets)
            raise
        return tuple(passed(ask, greenlet.get()) for ask, greenlet in zip(asks, greenlets, strict=True))

    def _start(self, ask: Ask) -> Started:
        begun = Event()
        greenlet = gevent.spawn(self._exchange, ask, first_token=begun)
        key = next(self._keys)
        self._started[key] = (ask, greenlet)
        begun.wait()
        if greenlet.ready():  # ended before, or at, its first token
            passed(ask, greenlet.get())
        return Started(key)

    def _end_started(self) -> None:
        """What was started and not finished is cancelled; its own greenlet writes its record."""
        left = [greenlet for _, greenlet in self._started.values()]
        gevent.killall(left)
        self._started.clear()
