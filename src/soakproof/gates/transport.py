"""One chat request over one connection of its own, under trio and httpx.

The counterpart of `soakproof.load.transport`: the same request gives the same record. Nothing waits with a
timeout but the connecting; what is past its bound is cancelled by `Flights.sweep`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import trio

from soakproof import sweep
from soakproof.clock import RunClock
from soakproof.framing import KEPT, contradiction, is_followed, is_garbage
from soakproof.gates.overheard import Overheard
from soakproof.records import Exchange, Failure

_SENDING = "http11.send_request_headers.started"  # connected, and nothing sent yet
_PEER_LEFT = ("closed", "disconnected")  # how httpx words the end of a connection in mid-answer


def make_client(headers: Mapping[str, str]) -> httpx.AsyncClient:
    """A client that opens a connection for each request, as the server closes it after a stream anyway."""
    return httpx.AsyncClient(
        headers={
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "soakproof",
            "Connection": "close",
            **headers,
        },
        timeout=5.0,
        transport=Overheard(),
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
    flight: Flight, client: httpx.AsyncClient, url: str, clock: RunClock, flights: Flights
) -> Exchange:
    """Send one request and read its answer to the end. Raises for no fault of the server's.

    A cancellation from outside passes through and makes no record: the caller knows why it came.
    """
    flights.add(flight)
    try:
        with flight.scope:
            return await _converse(flight, client, url, clock)
        assert flight.ended is not None, "only end() cancels a flight"
        return flight.ended(clock.now())
    finally:
        flights.discard(flight)
        if flight.barrier and not flight.connected:
            flight.barrier.arrive()


async def _converse(flight: Flight, client: httpx.AsyncClient, url: str, clock: RunClock) -> Exchange:
    reading = flight.reading

    async def trace(event: str, _: Mapping[str, Any]) -> None:
        if event == _SENDING:
            flight.connected = True
            if flight.barrier:
                await flight.barrier.wait()
            reading.sent(clock.now())
            flight.sending = True

    request = client.stream(
        "POST",
        url,
        content=flight.body,
        headers={"Content-Type": "application/json"},
        timeout=httpx.Timeout(None, connect=flight.bounds.connect),
        extensions={"trace": trace},
    )
    try:
        async with request as response:
            return await _read(flight, response, clock)
    except httpx.LocalProtocolError:
        raise  # our own request is malformed
    except httpx.TransportError as error:
        told = str(error) or type(error).__name__
        if not flight.sending:
            return reading.broke(clock.now(), Failure.CONNECT, f"no connection: {told}")
        return reading.broke(clock.now(), _failure(error, told), told)


async def _read(flight: Flight, response: httpx.Response, clock: RunClock) -> Exchange:
    reading = flight.reading
    if wrong := contradiction(response.headers.multi_items()):
        return reading.broke(clock.now(), Failure.PROTOCOL, f"status {response.status_code}: {wrong}")
    reading.headers(clock.now(), response.status_code, dict(response.headers.items()))
    cut_at = flight.cancel.tokens if flight.cancel else None
    body_end = b""
    try:
        async for data in response.aiter_raw():
            now = clock.now()
            reading.body(now, data)
            body_end = (body_end + data)[-KEPT:]
            if reading.over_limit:
                break
            if reading.token_events:
                flight.first_token.set()
                if cut_at is not None and reading.token_events >= cut_at and not reading.finished:
                    return reading.cancelled(now)
    except httpx.RemoteProtocolError as error:
        chunked = "transfer-encoding" in response.headers
        if chunked and is_garbage(response.extensions["network_stream"].tail, body_end):
            return reading.broke(clock.now(), Failure.PROTOCOL, f"not the size of a chunk: {error}")
        raise
    tail = response.extensions["network_stream"].tail
    if not reading.over_limit and is_followed(
        tail, body_end, chunked="transfer-encoding" in response.headers
    ):
        reading.behind()
    return reading.end(clock.now())


def _failure(error: httpx.TransportError, told: str) -> Failure:
    """httpx has one class for a peer that left in mid-answer and one that never spoke HTTP."""
    malformed = isinstance(error, httpx.RemoteProtocolError) and not any(w in told for w in _PEER_LEFT)
    return Failure.PROTOCOL if malformed else Failure.RESET
