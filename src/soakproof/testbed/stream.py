"""The frame of every streamed answer: 200 and its headers at once, then what the content sends, then the end
of the connection. A client that leaves ends the content, whatever it is waiting for.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Receive, Scope, Send

from soakproof.testbed.answers import CONNECTION, STREAM_HEADERS

Push = Callable[[bytes], Awaitable[None]]  # bytes to the client
Content = Callable[[Push], Awaitable[None]]


class Stream:
    """An ASGI response whose body is pushed by ``content``."""

    def __init__(self, content: Content) -> None:
        self._content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def push(data: bytes) -> None:
            await send({"type": "http.response.body", "body": data, "more_body": True})

        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        content = asyncio.ensure_future(self._content(push))
        gone = asyncio.ensure_future(_until_disconnect(receive))
        try:
            await asyncio.wait({content, gone}, return_when=asyncio.FIRST_COMPLETED)
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
