"""The one model that the gateway serves: loaded, in use, lost, reloaded, unloaded.

As seen from outside Lemonade, ``gate`` is held while an unload waits for streams, and blocks health, models
and chat for that long.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from soakproof.testbed.backend import Backend
from soakproof.testbed.names import Names
from soakproof.testbed.options import EngineOptions
from soakproof.testbed.stats import Stats


class Model:
    """State of the model; every method runs in the gateway's event loop."""

    def __init__(self, path: Path, name: str, options: EngineOptions, log: Path) -> None:
        self.path = path
        self.names = Names(name)
        self.options = options
        self.stats = Stats()
        self.backend: Backend | None = None
        self.face = ""  # address that is told in place of the engine's own, if there is one
        self.gate = asyncio.Lock()
        self.requests = 0  # in progress
        self.streams = 0  # of which have begun to stream
        self.last_use = 0.0  # loop time, seconds
        self.last_activity = 0.0
        self._log = log
        self._load: asyncio.Future[Backend] | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def loaded(self) -> Backend | None:
        """The engine, if there is one that lives: a dead one is not told of."""
        return self.backend if self.backend is not None and self.backend.alive() else None

    @asynccontextmanager
    async def use(self) -> AsyncIterator[None]:
        """Hold the model for one request: an unload waits for it."""
        async with self.gate:
            self.requests += 1
            self._idle.clear()
        self.touch()
        try:
            yield
        finally:
            self.requests -= 1
            if not self.requests:
                self._idle.set()

    def touch(self) -> None:
        """Note a use, and activity for the watchdog."""
        self.last_use = self.last_activity = asyncio.get_running_loop().time()

    async def ready(self) -> Backend:
        """A living engine, started if there is none. Raises LoadFailed."""
        backend = self.loaded()
        return backend if backend is not None else await asyncio.shield(self.loading())

    def loading(self) -> "asyncio.Future[Backend]":
        """The load in progress, begun if there is none. Many requests make one load, and it goes on when
        the client that it began for has left.
        """
        if self._load is None or self._load.done():
            self._load = asyncio.ensure_future(self._start())
            self._load.add_done_callback(lambda load: load.cancelled() or load.exception())
        return self._load

    async def _start(self) -> Backend:
        self.backend = None
        self.backend = await Backend.start(self.path, self.options, self._log)
        return self.backend

    async def reset(self, backend: Backend, doing: str, failure: str) -> str:
        """Take a lost engine out of service; why, in Lemonade's words."""
        if not backend.reset_reason:
            gone = await backend.exited(within=0.2)
            why = f"process exited during {doing}" if gone else f"connection failed during {doing}: {failure}"
            backend.reset_reason = backend.reset_reason or f"backend {why}"
        await backend.end()
        return backend.reset_reason

    async def load(self, options: EngineOptions) -> None:
        """Load with these options; nothing is done when they are those of the loaded engine.
        A load that fails leaves no model loaded. Raises LoadFailed.
        """
        if options != self.options:
            async with self.gate:
                await self._end()
                self.options = options
        await self.ready()

    async def unload(self) -> bool:
        """End the engine once its requests have ended; False when none was loaded."""
        async with self.gate:
            if self.loaded() is None:
                return False
            await self._end()
            return True

    async def close(self) -> None:
        """End the engine, and one that is just starting, at once."""
        if self._load is not None:
            self._load.cancel()
            await asyncio.wait({self._load})
        if self.backend is not None:
            await self.backend.end()
        self.backend = None

    async def _end(self) -> None:
        await self._idle.wait()
        await self.close()
