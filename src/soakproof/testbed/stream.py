"""The frame of every streamed answer: 200 and its headers at once, then what the content sends, then the end
of the connection. A client that leaves ends the content, whatever it is waiting for, unless a plant has the
engine go on.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from soakproof.testbed.answers import CONNECTION, STREAM_HEADERS
from soakproof.testbed.plant import Push
from soakproof.testbed.planting import Planted

Content = Callable[[Push], Awaitable[None]]


class Stream:
    """An ASGI response whose body is pushed by ``content``."""

    def __init__(self, content: Content, planted: Planted) -> None:
        self._content = content
        self._planted = planted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._respond(scope, receive, send)
        finally:
            self._planted.done()

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def push(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        headers = [*STREAM_HEADERS, *self._planted.call.headers]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        content = asyncio.ensure_future(self._content(push))
        gone = asyncio.ensure_future(_until_disconnect(receive))
        self._planted.call.work = content
        try:
            await asyncio.wait({content, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not content.done():
                await asyncio.wait({content}, timeout=self._planted.client_left())
        finally:
            content.cancel()
            gone.cancel()
            await asyncio.wait({content, gone})
        if not content.cancelled():
            content.result()
        await send({"type": "http.response.body", "body": b""})
        # The headers said keep-alive; the connection ends all the same, as Lemonade's does.
        scope["extensions"][CONNECTION].close()


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
