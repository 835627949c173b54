"""A trio driver on a server, ready to run scripts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from scripts import SHORT, requests

from soakproof.clock import RunClock
from soakproof.gates.driver import Driver, Sink
from soakproof.gates.transport import make_client
from soakproof.plan import Bounds


@asynccontextmanager
async def flying(
    url: str, sink: Sink, *, slots_url: str | None = "", bounds: Bounds = SHORT, **more: Any
) -> AsyncIterator[Driver]:
    """``slots_url`` is the server's own unless given; ``more`` is for its `Requests`."""
    async with make_client({}) as client:
        driver = Driver(
            requests=requests(**more),
            clock=RunClock.start(),
            client=client,
            chat_url=f"{url}/v1/chat/completions",
            slots_url=f"{url}/slots" if slots_url == "" else slots_url,
            bounds=bounds,
            sink=sink,
        )
        async with driver.flying():
            yield driver
