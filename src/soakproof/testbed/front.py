"""The server under the gateway: uvicorn, told of what Lemonade does with connections."""

import asyncio
import logging
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from soakproof.testbed.answers import CONNECTION

_KEEP_ALIVE = 5  # seconds that an idle connection stays open


class Connection(HttpToolsProtocol):
    """Tells each request of its connection: how many it has had, how to close it, and whose it is."""

    requests = 0

    def __init__(self, front: "Front", **given: Any) -> None:
        super().__init__(**given)
        self.front = front

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.requests += 1
        self.scope["extensions"] = {CONNECTION: self}  # type: ignore[dict-item]

    def close(self) -> None:
        """Send what is written, then FIN."""
        self.transport.close()

    def reset(self) -> None:
        """End the connection with RST, whatever was not sent yet."""
        opened: socket.socket = self.transport.get_extra_info("socket")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


class Front(uvicorn.Server):
    """Calls ``on_ready`` once the port answers; cuts what still streams when it ends."""

    def __init__(self, app: ASGIApp, on_ready: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app,
            http=partial(Connection, self),  # type: ignore[arg-type]  # it is only called
            ws="none",
            lifespan="on",
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=0,
        )
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def refuse(self, seconds: float) -> None:
        """Listen no more for so long: whoever connects is refused. Open connections stay."""
        servers, self.servers = self.servers, []  # none, where another call refuses already
        addresses = [bound.getsockname()[:2] for server in servers for bound in server.sockets]
        for server in servers:
            server.close()
        await asyncio.sleep(seconds)
        self.servers += [await self._listen(listen(*address)) for address in addresses]

    async def _listen(self, bound: socket.socket) -> asyncio.Server:
        given = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: Connection(self, **given), sock=bound)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # streams are cut on purpose now
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one. OSError when it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    return listener


def loop_factory() -> Callable[[], Any] | None:
    """uvloop's loop where it can be had: it halves the cost of a streamed chunk."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    return uvloop.new_event_loop
