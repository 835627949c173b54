"""Requests to the engine: HTTP/1.1 over asyncio's streams, parsed by httptools.

One connection a request; closing it is how a client's disconnect is passed on. Bodies come as the bytes
that they are, with no look inside: the gateway shares its cores with the load and must stay cheap.
"""

import asyncio
from urllib.parse import urlsplit

import httptools

_BLOCK = 64 * 1024


class Lost(Exception):
    """The engine went away before its answer was whole."""


class Answer:
    """An answer as it arrives: `head`, then `read` until it gives nothing."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.status = 0
        self._reader, self._writer = reader, writer
        self._parser = httptools.HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._complete = False

    # called by the parser
    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, piece: bytes) -> None:
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        self._complete = True

    async def head(self) -> int:
        """The status, as soon as the head is there."""
        while not self.status:
            await self._more()
        return self.status

    async def read(self) -> bytes:
        """What has arrived since the last read; empty at the clean end of the answer."""
        while not self._pieces and not self._complete:
            await self._more()
        data = b"".join(self._pieces)
        self._pieces.clear()
        return data

    async def whole(self) -> bytes:
        """All of the body."""
        while not self._complete:
            await self._more()
        return await self.read()

    def close(self) -> None:
        self._writer.close()

    async def _more(self) -> None:
        try:
            data = await self._reader.read(_BLOCK)
            self._parser.feed_data(data)
        except (OSError, httptools.HttpParserError) as error:
            raise Lost(str(error)) from error
        if not data:
            raise Lost("the connection ended within an answer")


async def ask(url: str, method: str, path: str, body: bytes = b"") -> Answer:
    """Send a request; the answer is not awaited. Raises Lost when the engine cannot be reached."""
    address = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
    except OSError as error:
        raise Lost(f"failed to connect: {error}") from error
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    return Answer(reader, writer)


async def fetch(url: str, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """A request and its whole answer: status and body."""
    answer = await ask(url, method, path, body)
    try:
        return await answer.head(), await answer.whole()
    finally:
        answer.close()
