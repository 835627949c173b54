"""One chat request over one connection of its own, under trio.

The counterpart of `soakproof.load.transport`: the same request gives the same record. Nothing waits with a
timeout but the connecting; what is past its bound is cancelled by `Flights.sweep`.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
import trio

from soakproof import sweep
from soakproof.clock import RunClock
from soakproof.http1 import ALWAYS, FramingError, Response, message, post_head
from soakproof.records import Exchange, Failure

_BLOCK = 65536


def make_client(headers: Mapping[str, str]) -> httpx.AsyncClient:
    """A client for questions beside the requests, with the headers of both."""
    return httpx.AsyncClient(
        headers={**ALWAYS, **headers},
        timeout=5.0,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        trust_env=False,
    )


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


async def perform(
    flight: Flight, headers: Mapping[str, str], url: str, clock: RunClock, flights: Flights
) -> Exchange:
    """Send one request and read its answer to the end. Raises for no fault of the server's.

    A cancellation from outside passes through and makes no record: the caller knows why it came.
    """
    flights.add(flight)
    try:
        with flight.scope:
            return await _converse(flight, headers, url, clock)
        assert flight.ended is not None, "only end() cancels a flight"
        return flight.ended(clock.now())
    finally:
        flights.discard(flight)
        if flight.barrier and not flight.connected:
            flight.barrier.arrive()


async def _converse(flight: Flight, headers: Mapping[str, str], url: str, clock: RunClock) -> Exchange:
    reading = flight.reading
    try:
        with trio.fail_after(flight.bounds.connect):
            connection = await _connect(url)
    except (OSError, trio.BrokenResourceError, trio.TooSlowError) as error:
        return reading.broke(clock.now(), Failure.CONNECT, f"no connection: {_words(error)}")
    try:
        flight.connected = True
        if flight.barrier:
            await flight.barrier.wait()
        reading.sent(clock.now())
        flight.sending = True
        await connection.send_all(message(post_head(url, headers), flight.body))
        return await _read(flight, connection, clock)
    except FramingError as error:
        return reading.broke(clock.now(), Failure.PROTOCOL, str(error))
    except trio.BrokenResourceError as error:
        return reading.broke(clock.now(), Failure.RESET, _words(error))
    finally:
        await trio.aclose_forcefully(connection)


async def _connect(url: str) -> trio.abc.Stream:
    """A connected stream. Raises OSError or BrokenResourceError."""
    parts = urlsplit(url)
    secure, name = parts.scheme == "https", parts.hostname or ""
    plain = await trio.open_tcp_stream(name, parts.port or (443 if secure else 80))
    if not secure:
        return plain
    context = ssl.create_default_context()
    stream = trio.SSLStream(plain, context, server_hostname=name, https_compatible=True)
    try:
        await stream.do_handshake()
    except BaseException:
        await trio.aclose_forcefully(plain)
        raise
    return stream


async def _read(flight: Flight, connection: trio.abc.Stream, clock: RunClock) -> Exchange:
    """Until the answer is whole, the connection closes, or enough has been read."""
    reading = flight.reading
    response = Response(reading.headers, reading.body)
    cut_at = flight.cancel.tokens if flight.cancel else None
    while not response.whole and not reading.over_limit:
        data = await connection.receive_some(_BLOCK)
        now = clock.now()
        if not data:
            response.closed()
            break
        response.feed(now, bytes(data))
        if reading.token_events:
            flight.first_token.set()
            if cut_at is not None and reading.token_events >= cut_at and not reading.finished:
                return reading.cancelled(now)
    if response.whole or reading.over_limit:
        return reading.end(clock.now())
    return reading.broke(clock.now(), Failure.RESET, "the connection closed before the answer was whole")


def _words(error: BaseException) -> str:
    """What the system said, which trio keeps as the cause."""
    return str(error.__cause__ or error) or type(error).__name__
