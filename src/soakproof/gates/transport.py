"""One chat request over one connection of its own, under trio.

The counterpart of `soakproof.load.transport`: the same request gives the same record. Nothing waits with a
timeout but the connecting; what is past its bound is cancelled by `Flights.sweep`.
"""

import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import trio

from soakproof import sweep
from soakproof.clock import RunClock
from soakproof.http1 import BROKEN_OFF, Address, MalformedError, ResponseReader
from soakproof.records import Exchange, Failure

_BLOCK = 65536


class Endpoint(Address):
    """Where requests go."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        super().__init__(url, headers)
        self._context = ssl.create_default_context() if self.secure else None

    async def connect(self, timeout: float) -> trio.abc.Stream:
        """A connected stream. Tries each address of the name. Raises OSError."""
        try:
            with trio.fail_after(timeout):
                return await self._connected()
        except trio.TooSlowError:
            raise OSError(f"not within {timeout:g} s") from None
        except trio.BrokenResourceError as error:
            raise OSError(str(error.__cause__ or error)) from error

    async def _connected(self) -> trio.abc.Stream:
        plain = await trio.open_tcp_stream(self.name, self.port)
        if self._context is None:
            return plain
        secured = trio.SSLStream(plain, self._context, server_hostname=self.name, https_compatible=True)
        try:
            await secured.do_handshake()
        except BaseException:
            await trio.aclose_forcefully(plain)
            raise
        return secured


class Barrier:
    """Lets ``parties`` go on together. Who cannot come says so with `arrive`."""

    def __init__(self, parties: int) -> None:
        self._missing = parties
        self._open = trio.Event()

    def arrive(self) -> None:
        self._missing -= 1
        if self._missing <= 0:
            self._open.set()

    async def wait(self) -> None:
        self.arrive()
        await self._open.wait()


@dataclass(eq=False)
class Flight(sweep.Flight):
    """One exchange on its way in a task of its own, which the cancelling of its scope wakes."""

    role: str
    body: bytes
    barrier: Barrier | None = None  # waited for between connecting and sending
    first_token: trio.Event = field(default_factory=trio.Event)
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    connected: bool = False
    sending: bool = False

    def wake(self) -> None:
        self.scope.cancel()


class Flights(set[Flight]):
    """All exchanges in flight, to a target with so many slots, if that is known."""

    def __init__(self, slots: int | None = None) -> None:
        super().__init__()
        self._sweep = sweep.Sweep(slots)

    async def sweep(self, clock: RunClock) -> None:
        """End those that are past a bound, or due to be cancelled by time; forever."""
        while True:
            await trio.sleep(sweep.LOOK_EVERY)
            self._sweep.look((f for f in self if f.sending), clock.now())


async def perform(flight: Flight, endpoint: Endpoint, clock: RunClock, flights: Flights) -> Exchange:
    """Send one request and read its answer to the end. Raises for no fault of the server's.

    A cancellation from outside passes through and makes no record: the caller knows why it came.
    """
    flights.add(flight)
    try:
        with flight.scope:
            return await _connect_and_converse(flight, endpoint, clock)
        assert flight.ended is not None, "only end() cancels a flight"
        return flight.ended(clock.now())
    finally:
        flights.discard(flight)
        if flight.barrier and not flight.connected:
            flight.barrier.arrive()


async def _connect_and_converse(flight: Flight, endpoint: Endpoint, clock: RunClock) -> Exchange:
    try:
        stream = await endpoint.connect(flight.bounds.connect)
    except OSError as error:
        return flight.reading.broke(clock.now(), Failure.CONNECT, f"no connection: {error}")
    try:
        flight.connected = True
        if flight.barrier:
            await flight.barrier.wait()
        flight.reading.sent(clock.now())
        flight.sending = True
        return await _converse(flight, stream, endpoint.message(flight.body), clock)
    finally:
        await trio.aclose_forcefully(stream)


async def _converse(flight: Flight, stream: trio.abc.Stream, message: bytes, clock: RunClock) -> Exchange:
    reading, response = flight.reading, ResponseReader(flight.reading)
    try:
        with suppress(trio.BrokenResourceError):
            await stream.send_all(message)  # who did not read all of it may have answered all the same
        ended = await _read(flight, stream, response, clock)
    except MalformedError as error:
        return reading.broke(clock.now(), Failure.PROTOCOL, str(error))
    except trio.BrokenResourceError as error:
        return reading.broke(clock.now(), Failure.RESET, str(error.__cause__ or error))
    if ended is not None:
        return ended
    if response.whole:
        return reading.end(clock.now())
    return reading.broke(clock.now(), Failure.RESET, BROKEN_OFF)


async def _read(
    flight: Flight, stream: trio.abc.Stream, response: ResponseReader, clock: RunClock
) -> Exchange | None:
    """The reading loop, until the answer is whole or the connection closed; a record, if made before that."""
    reading = flight.reading
    cut_at = flight.cancel.tokens if flight.cancel else None
    while not response.whole:
        data = bytes(await stream.receive_some(_BLOCK))
        now = clock.now()
        if not data:
            response.close()
            break
        response.feed(now, data)
        if reading.over_limit:
            return reading.end(now)
        if reading.token_events:
            flight.first_token.set()
            if cut_at is not None and reading.token_events >= cut_at and not reading.finished:
                return reading.cancelled(now)
    return None
