"""One chat request over one socket of its own, under gevent.

Head and body leave in one write, so that a barrier before it means something. geventhttpclient's response
is used as a parser only. The socket never waits with a timeout: the `Sweeper` looks at every exchange in
flight again and again and ends those that are past their bound, which keeps the reading loop bare. Every
read waits in the event loop first: a stream that comes faster than we read lets the others have their turn,
and one that comes slower costs no read in vain.
"""

import contextlib
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import gevent
import gevent.socket
from gevent.event import Event
from geventhttpclient.response import HTTPParseError, HTTPResponse, HTTPResponseParser

from soakproof import sweep
from soakproof.clock import RunClock
from soakproof.exchange import Reading
from soakproof.framing import LineEnds, contradiction
from soakproof.records import Exchange, Failure

_BLOCK = 65536
_LOOKED_BEHIND = 64  # bytes
_LONGEST_HEAD = 256 * 1024  # characters of headers, interim ones and trailers included


class Endpoint:
    """Where requests go: the address resolved once, and the head of each request."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        self.secure = parts.scheme == "https"
        self.name = parts.hostname or ""
        self.port = parts.port or (443 if self.secure else 80)
        self._addresses = gevent.socket.getaddrinfo(self.name, self.port, 0, gevent.socket.SOCK_STREAM)
        self._context = ssl.create_default_context() if self.secure else None
        lines = {
            "Host": parts.netloc,
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "User-Agent": "soakproof",
            "Connection": "close",
            **headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self._head = f"POST {parts.path or '/'} HTTP/1.1\r\n{head}Content-Length: ".encode(
            "latin-1", "replace"
        )

    def message(self, body: bytes) -> bytes:
        return self._head + str(len(body)).encode() + b"\r\n\r\n" + body

    def connect(self, timeout: float) -> gevent.socket.socket:
        """A connected socket. Tries each address of the name. Raises OSError."""
        problem: OSError = OSError(f"{self.name} has no address")
        for family, kind, protocol, _, address in self._addresses:
            connection = gevent.socket.socket(family, kind, protocol)
            try:
                connection.settimeout(timeout)
                connection.connect(address)
                connection.setsockopt(gevent.socket.IPPROTO_TCP, gevent.socket.TCP_NODELAY, 1)
                if self._context:
                    connection = self._context.wrap_socket(connection, server_hostname=self.name)
                connection.settimeout(None)
                return connection
            except OSError as error:
                connection.close()
                problem = error
        raise problem


class _Parser(HTTPResponse):
    """geventhttpclient's parser, its headers and body handed straight to the reading."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._ends = LineEnds()
        self._reading = reading
        self._take = reading.body
        self._head = 0
        self.now = 0
        self.at_end = False  # the connection was closed
        self.head_read = False
        self.whole = False  # the answer itself is: an interim response, which may come alone, is none

    def feed(self, data: bytes) -> None:
        """Past HTTPResponse, which adds what is for HEAD."""
        HTTPResponseParser.feed(self, data if self._ends.over else self._ends.feed(data))

    def _on_message_begin(self) -> None:
        if self.whole:
            raise HTTPParseError("another answer behind the first")
        super()._on_message_begin()

    def _on_header_field(self, string: str) -> None:
        self._in_head(string)
        super()._on_header_field(string)

    def _on_header_value(self, string: str) -> None:
        self._in_head(string)
        super()._on_header_value(string)

    def _in_head(self, string: str) -> None:
        self._head += len(string) + 1
        if self._head > _LONGEST_HEAD:
            raise HTTPParseError(f"headers of more than {_LONGEST_HEAD} bytes")

    def _on_headers_complete(self) -> int | bool | None:
        skip: int | bool | None = super()._on_headers_complete()
        if wrong := contradiction((k, str(v)) for k, v in self.items()):
            raise HTTPParseError(wrong)
        if self.get_code() >= 200:
            self.head_read = True
            self._reading.headers(self.now, self.get_code(), {k.lower(): str(v) for k, v in self.items()})
        return skip

    def _on_message_complete(self) -> None:
        super()._on_message_complete()
        self.whole = self.get_code() >= 200

    def _on_body(self, buf: bytearray) -> None:
        self._take(self.now, bytes(buf))


@dataclass(eq=False)
class Flight(sweep.Flight):
    """One exchange on its way over a socket, whose end wakes the reading loop."""

    connection: gevent.socket.socket | None = None

    def wake(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(OSError):
                self.connection.shutdown(gevent.socket.SHUT_RDWR)


class Sweeper:
    """Ends exchanges that are past a bound or due to be cancelled by time; knows all that is in flight."""

    def __init__(self, clock: RunClock, slots: int | None = None) -> None:
        """``slots``: how many the target has, if that is known."""
        self._clock = clock
        self._sweep = sweep.Sweep(slots)
        self.flights: set[Flight] = set()
        self._joined = Event()  # a flight that the next look was not planned for
        self._greenlet = gevent.spawn(self._run)

    def _run(self) -> None:
        while True:
            self._joined.clear()
            pause = self._sweep.look(self.flights, self._clock.now())
            if pause > sweep.LOOK_EVERY:
                self._joined.wait(pause)
            gevent.sleep(sweep.LOOK_EVERY)

    def add(self, flight: Flight) -> None:
        self.flights.add(flight)
        self._joined.set()

    def oldest_s(self) -> float | None:
        """Age of the oldest exchange in flight, in seconds."""
        now = self._clock.now()
        return max(((now - f.sent_ns) / 1e9 for f in self.flights), default=None)

    @property
    def alive(self) -> bool:
        return not self._greenlet.dead

    def close(self) -> None:
        self._greenlet.kill()


def perform(
    flight: Flight,
    endpoint: Endpoint,
    body: bytes,
    clock: RunClock,
    sweeper: Sweeper,
    *,
    ready: Callable[[], None] | None = None,
    first_token: Event | None = None,
) -> Exchange:
    """Send one request and read its answer to the end. Never raises for what the server does.

    ``ready`` is called between connecting and sending (a barrier, say); ``first_token`` is set at the first
    token, and at the end in any case.
    """
    reading = flight.reading
    try:
        try:
            flight.connection = endpoint.connect(flight.bounds.connect)
        except OSError as error:
            return reading.broke(clock.now(), Failure.CONNECT, f"no connection: {error}")
        finally:
            if ready:
                ready()
        reading.sent(clock.now())
        sweeper.add(flight)
        return _converse(flight, endpoint.message(body), clock, first_token)
    finally:
        sweeper.flights.discard(flight)
        if flight.connection is not None:
            flight.connection.close()
        if first_token is not None:
            first_token.set()


def _converse(flight: Flight, message: bytes, clock: RunClock, first_token: Event | None) -> Exchange:
    assert flight.connection is not None
    parser = _Parser(flight.reading)
    ended: Exchange | None = None
    try:
        flight.connection.sendall(message)
        with _arrivals(flight.connection) as wait:
            ended = _read(flight, wait, parser, clock, first_token)
    except HTTPParseError as error:
        if not parser.whole:
            return _ended_badly(flight, clock, *_unread(parser, error))
        flight.reading.behind()
    except OSError as error:
        return _ended_badly(flight, clock, Failure.RESET, str(error))
    if ended is not None:
        return ended
    if parser.whole:
        now = clock.now()
        if _is_followed(flight.connection):
            flight.reading.behind()
        return flight.reading.end(now)
    return _ended_badly(flight, clock, Failure.RESET, "the connection closed before the answer was whole")


def _unread(parser: _Parser, error: HTTPParseError) -> tuple[Failure, str]:
    """Why a response could not be read, with the status of one whose head was not."""
    why = str(error.args[0]) if error.args else "it cannot be read"  # llhttp has a number beside its words
    if parser.at_end:
        return Failure.RESET, why
    status = parser.get_code()
    return Failure.PROTOCOL, why if parser.head_read or status < 200 else f"status {status}: {why}"


def _is_followed(connection: gevent.socket.socket) -> bool:
    """Whether more than line ends has come already behind a whole response; nothing is waited for."""
    connection.settimeout(0.0)
    try:
        more: bytes = connection.recv(_LOOKED_BEHIND)
    except OSError:  # nothing there, or a connection that was cut: the response is whole
        return False
    return bool(more.strip(b"\r\n"))


@contextlib.contextmanager
def _arrivals(connection: gevent.socket.socket) -> Iterator[Callable[[], None]]:
    """A function that waits, in the event loop, until there is something to read."""
    hub = gevent.get_hub()
    watcher = hub.loop.io(connection.fileno(), 1)  # 1: to read
    pending = getattr(connection, "pending", None)  # what TLS has taken off the socket already

    def wait() -> None:
        if pending is None or not pending():
            hub.wait(watcher)

    try:
        yield wait
    finally:
        watcher.close()


def _read(
    flight: Flight,
    wait: Callable[[], None],
    parser: _Parser,
    clock: RunClock,
    first_token: Event | None,
) -> Exchange | None:
    """The reading loop, until the answer is whole or the connection closed; a record, if made before that."""
    reading, connection = flight.reading, flight.connection
    assert connection is not None
    cut_at = flight.cancel.tokens if flight.cancel else None
    while not parser.whole:
        wait()
        data = connection.recv(_BLOCK)
        parser.now = clock.now()
        if flight.ended:
            return flight.ended(parser.now)
        parser.at_end = not data
        parser.feed(data)
        if not data:
            break
        if reading.over_limit:
            return reading.end(parser.now)
        if first_token is not None and reading.token_events:
            first_token.set()
            first_token = None
        if cut_at is not None and reading.token_events >= cut_at and not reading.finished:
            return reading.cancelled(parser.now)
    return None


def _ended_badly(flight: Flight, clock: RunClock, failure: Failure, reason: str) -> Exchange:
    now = clock.now()
    return flight.ended(now) if flight.ended else flight.reading.broke(now, failure, reason)
