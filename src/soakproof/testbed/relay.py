"""The content of a streamed completion: the engine's bytes, passed on as they come, in Lemonade's manner.

`: ping` fills each second of the engine's silence; its refusal and its loss become events. No event is parsed
on the way: only the tail of the stream is looked at, once.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from soakproof.testbed import refusals
from soakproof.testbed.answers import PING, dump, event
from soakproof.testbed.backend import Backend, LoadFailed
from soakproof.testbed.model import Model
from soakproof.testbed.plant import Push
from soakproof.testbed.planting import Planted
from soakproof.testbed.upstream import Lost, ask

DONE = b"data: [DONE]\n\n"
_PING_AFTER = 1.0  # seconds of silence
_TAIL = 4  # reads that surely hold the last event and [DONE]


class Relay:
    """One request on its way through; call it with where the bytes go."""

    def __init__(self, model: Model, name: str, path: str, planted: Planted) -> None:
        self._model, self._name, self._path, self._planted = model, name, path, planted
        self._body = dump(planted.call.document)
        self._begun = False
        self._last = 0.0  # loop time of the last bytes that the client got

    async def __call__(self, push: Push) -> None:
        push, end = self._planted.through(push)
        await self._answer(push)
        await end()

    async def _answer(self, push: Push) -> None:
        async with self._model.use():
            for _ in range(2):  # what is lost before its first byte is asked again, once
                try:
                    backend = await self._model.ready()
                except LoadFailed:
                    break
                try:
                    return await self._forward(backend, push)
                except Lost as lost:
                    reason = await self._model.reset(backend, "streaming request", str(lost))
                if self._begun:
                    await push(event(refusals.backend_reset(reason)))
                    self._model.loading()  # nobody waits for it
                    return
            await push(event(refusals.backend_unavailable(self._name)))

    async def _forward(self, backend: Backend, push: Push) -> None:
        """Raises Lost when the engine goes away before the end."""
        pings = asyncio.ensure_future(self._ping(push))
        answer = None
        try:
            await self._planted.prefill()
            answer = await ask(backend.url, "POST", self._path, self._body)
            if (status := await answer.head()) != 200:
                pings.cancel()
                return await push(event(refusals.in_stream(status, await answer.whole())))
            tail = await self._pass_on(answer.read, push)
            if DONE not in tail:
                await push(DONE)
            self._model.stats.note_stream(tail)
        finally:
            pings.cancel()
            if answer is not None:
                answer.close()
            self._model.streams -= self._begun

    async def _pass_on(self, read: Callable[[], Awaitable[bytes]], push: Push) -> bytes:
        """Every byte, unchanged; the last of them."""
        tail: deque[bytes] = deque(maxlen=_TAIL)
        now = asyncio.get_running_loop().time
        while data := await read():
            if not self._begun:
                self._begun = True
                self._model.streams += 1
            self._last = self._model.last_activity = now()
            tail.append(data)
            await push(data)
        return b"".join(tail)

    async def _ping(self, push: Push) -> None:
        now = asyncio.get_running_loop().time
        self._last = now()
        while True:
            await asyncio.sleep(self._last + _PING_AFTER - now())
            if now() - self._last >= _PING_AFTER:
                self._last = now()
                await push(PING)
