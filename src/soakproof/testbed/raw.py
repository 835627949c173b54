"""A response as bytes of one's own, written past the HTTP server, and how its connection ends."""

from dataclasses import dataclass
from typing import Literal

from starlette.types import Receive, Scope, Send

from soakproof.testbed.answers import CONNECTION

End = Literal["close", "reset", "hang"]


@dataclass(frozen=True, slots=True)
class Raw:
    """An ASGI response that is no HTTP of uvicorn's making. ``hang`` keeps the connection open and silent."""

    data: bytes
    end: End = "close"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope["extensions"][CONNECTION]
        connection.transport.write(self.data)
        if self.end == "close":
            connection.close()
        elif self.end == "reset":
            connection.reset()
        while (await receive())["type"] != "http.disconnect":
            pass
