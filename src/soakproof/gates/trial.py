"""Carries one scenario out a few times, tells of it as it happens, and keeps what came of it."""

import secrets
import signal
from dataclasses import dataclass, field
from typing import Protocol

import trio

from soakproof.clock import RunClock, seconds
from soakproof.context import Checked, Surroundings
from soakproof.gates.driver import Driver
from soakproof.gates.nursery import open_plain_nursery
from soakproof.gates.transport import make_client
from soakproof.iteration import Result
from soakproof.plan import Bounds, Kind
from soakproof.records import Check, Exchange, Opened
from soakproof.request import Requests
from soakproof.scenario import Ask
from soakproof.target import Credentials, Target

_NODE = "try"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What to carry out, against what."""

    kind: Kind
    target: Target
    around: Surroundings
    bounds: Bounds
    credentials: Credentials
    seed: int
    times: int
    on_probe: bool = False  # the target is the testbed with its own very small model


@dataclass(slots=True)
class Book:
    """All that came of a trial."""

    exchanges: list[Exchange] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    stopped: str = ""  # why it ended early, if it did


class Teller(Protocol):
    """Told of everything as it happens."""

    def iteration(self, number: int) -> None: ...

    def asked(self, record: Opened, ask: Ask) -> None: ...

    def ended(self, exchange: Exchange) -> None: ...

    def checked(self, check: Check) -> None: ...

    def finished(self, result: Result) -> None: ...

    def waiting(self, roles: list[str], seconds: float, token_events: int) -> None: ...


class _Sink:
    """Hands the driver's news to the book and the teller."""

    def __init__(self, book: Book, teller: Teller, clock: RunClock, kind: str) -> None:
        self._book, self._teller, self._clock, self._kind = book, teller, clock, kind
        self.number = 0
        self._told: set[str] = set()  # checks of this iteration

    def begin(self, number: int) -> None:
        self.number = number
        self._told.clear()
        self._teller.iteration(number)

    def opened(self, record: Opened, ask: Ask) -> None:
        self._teller.asked(record, ask)

    def closed(self, record: Exchange) -> None:
        self._book.exchanges.append(record)
        self._teller.ended(record)

    def checked(self, checked: Checked) -> None:
        check = checked.record(node=_NODE, t_ns=self._clock.now(), scenario=self._kind, iteration=self.number)
        self._told.add(checked.name)
        self._book.checks.append(check)
        self._teller.checked(check)

    def end(self, result: Result) -> None:
        """The checks that were never reached, and how the iteration ended."""
        for checked in result.checked:
            if checked.name not in self._told:
                self.checked(checked)
        self._book.results.append(result)
        self._teller.finished(result)


def carry_out(trial: Trial, teller: Teller) -> Book:
    """The whole trial. Ctrl-C ends it in good order; a second one at once."""
    book = Book()
    trio.run(_carry_out, trial, teller, book)
    return book


async def _carry_out(trial: Trial, teller: Teller, book: Book) -> None:
    clock = RunClock.start()
    sink = _Sink(book, teller, clock, trial.kind.name)
    key = trial.credentials.key
    async with make_client(trial.credentials.headers) as client, open_plain_nursery() as nursery:
        requests = Requests(
            node=_NODE,
            model=trial.target.model,
            around=trial.around,
            seed=trial.seed,
            first_seed=secrets.randbelow(1 << 11) << 20,
            redact=(key,) if key else (),
        )
        driver = Driver(
            requests=requests,
            clock=clock,
            client=client,
            chat_url=trial.target.chat_url,
            slots_url=trial.target.slots_url,
            bounds=trial.bounds,
            sink=sink,
        )
        nursery.start_soon(_stop_on_signal, driver, nursery.cancel_scope)
        nursery.start_soon(_tell_waiting, driver, teller)
        try:
            async with driver.flying():
                for number in range(trial.times):
                    sink.begin(number)
                    sink.end(await driver.run(trial.kind, number))
                    if driver.stopped.is_set():
                        break
        finally:
            book.stopped = driver.stop_reason
        nursery.cancel_scope.cancel()


async def _stop_on_signal(driver: Driver, scope: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if driver.stopped.is_set():
                scope.cancel()
            driver.stop("stopped by Ctrl-C")


async def _tell_waiting(driver: Driver, teller: Teller) -> None:
    """A sign of life while an answer takes long."""
    while True:
        await trio.sleep(1)
        flights = sorted(driver.flights, key=lambda f: f.sent_ns)
        if flights:
            age = seconds(driver.clock.now() - flights[0].sent_ns)
            events = sum(f.reading.token_events for f in flights)
            teller.waiting([f.role for f in flights], age, events)
