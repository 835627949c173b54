"""The inputs as three readers have them: bytes straight into a Reading, and both drivers over sockets."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from caseinputs import INPUTS
from flights import flying
from replaying import Kept, Read, bounds_of, kind, names
from responses import replay
from scripted import scripted

from soakproof.records import Exchange, decode


@pytest.fixture(scope="session")
def scripted_url() -> Iterator[str]:
    with scripted() as url:
        yield url


@pytest.fixture(scope="session")
def over_sockets(scripted_url: str) -> dict[str, dict[str, Exchange]]:
    """Driver to input to exchange."""
    script = Path(__file__).with_name("under_gevent.py")
    command = [sys.executable, str(script), scripted_url]
    environment = {"PYTHONPATH": str(INPUTS.parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        by_trio = trio.run(under_trio, scripted_url)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    by_gevent = {
        e.scenario: e for line in told.split(b"\n") if line if isinstance(e := decode(line), Exchange)
    }
    return {"gevent": by_gevent, "trio": by_trio}


async def under_trio(url: str) -> dict[str, Exchange]:
    found = {}
    limit = trio.CapacityLimiter(16)

    async def ask(place: int, name: str) -> None:
        kept = Kept()
        async with limit, flying(url, kept, place, bounds_of(name)) as driver:
            await driver.run(kind(name), 0)
        found[name] = kept.only()

    async with trio.open_nursery() as nursery:
        for place, name in enumerate(names()):
            nursery.start_soon(ask, place, name)
    return found


@pytest.fixture
def read(over_sockets: dict[str, dict[str, Exchange]]) -> Read:
    """A stream's exchange by each reader: a bare Reading with the case's own times, gevent, trio."""

    def readers(name: str) -> tuple[Exchange, ...]:
        return (replay(name), *(found[name] for found in over_sockets.values()))

    return readers
