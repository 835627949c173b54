"""A trio driver that asks the scripted server, or whoever else is at an address."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from replaying import PATIENT, Kept, requests

from soakproof.clock import RunClock
from soakproof.gates.driver import Driver
from soakproof.gates.transport import make_client
from soakproof.plan import Bounds


@asynccontextmanager
async def flying(url: str, kept: Kept, place: int = 0, bounds: Bounds = PATIENT) -> AsyncIterator[Driver]:
    """``place``: of the first request's seed."""
    async with make_client({}) as client:
        driver = Driver(
            requests=requests(place),
            clock=RunClock.start(),
            client=client,
            chat_url=f"{url}/v1/chat/completions",
            slots_url=None,
            bounds=bounds,
            sink=kept,
        )
        async with driver.flying():
            yield driver
