"""A trio driver on a server, ready to run scripts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from scripts import AROUND, SHORT

from soakproof.clock import RunClock
from soakproof.gates.driver import Driver, Sink
from soakproof.gates.transport import make_client


@asynccontextmanager
async def flying(url: str, sink: Sink, **more: Any) -> AsyncIterator[Driver]:
    async with make_client({}) as client:
        given: dict[str, Any] = {
            "node": "load",
            "clock": RunClock.start(),
            "client": client,
            "chat_url": f"{url}/v1/chat/completions",
            "slots_url": f"{url}/slots",
            "model": "tiny",
            "around": AROUND,
            "bounds": SHORT,
            "seed": 1,
            "sink": sink,
            "first_seed": 1000,
        }
        driver = Driver(**{**given, **more})
        async with driver.flying():
            yield driver
