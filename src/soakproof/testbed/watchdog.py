"""Lemonade's watchdog: an engine that is busy, silent for the grace, and deaf to three probes is ended.

What was waiting for it then sees it lost, and takes the way of every lost engine.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from soakproof.testbed.backend import Backend
from soakproof.testbed.model import Model
from soakproof.testbed.upstream import Lost, fetch

_PROBES = 3


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds; the defaults are Lemonade's."""

    grace: float = 90.0  # of silence while a request is active
    poll: float = 5.0  # between two looks
    probe: float = 2.0  # for an answer of the engine's /health


async def watch(model: Model, patience: Patience) -> None:
    """Watch for ever."""
    failures = 0
    while True:
        await asyncio.sleep(patience.poll)
        backend = model.loaded()
        silence = asyncio.get_running_loop().time() - model.last_activity
        if backend is None or not model.requests or silence < patience.grace:
            failures = 0
        elif await _answers(backend, patience.probe):
            failures = 0
            model.last_activity = asyncio.get_running_loop().time()
        else:
            failures += 1
        if backend is not None and failures == _PROBES:
            failures = 0
            backend.reset_reason = (
                f"health endpoint did not respond after {_PROBES} consecutive probes "
                "while a request was active"
            )
            await backend.end()


async def _answers(backend: Backend, within: float) -> bool:
    with contextlib.suppress(Lost, TimeoutError):
        async with asyncio.timeout(within):
            await fetch(backend.url, "GET", "/health")
            return True
    return False
