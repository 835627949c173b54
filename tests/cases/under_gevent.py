"""Asks for every input under gevent, many at once, in a process of its own; a line for each exchange.

Argument: the address of the scripted server. The last line is of a request whose user was killed.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import gevent.monkey
import gevent.pool

gevent.monkey.patch_all()

from replaying import SILENT, Kept, bounds_of, kind, names, requests  # noqa: E402

from soakproof.clock import RunClock  # noqa: E402
from soakproof.load.driver import Driver  # noqa: E402
from soakproof.load.slots import SlotsReader  # noqa: E402
from soakproof.load.transport import Endpoint  # noqa: E402
from soakproof.plan import Kind  # noqa: E402
from soakproof.records import encode  # noqa: E402

CLOCK = RunClock.start()


@contextmanager
def driving(kept: Kept, place: int, name: str) -> Iterator[Driver]:
    driver = Driver(
        requests=requests(place),
        clock=CLOCK,
        endpoint=Endpoint(f"{sys.argv[1]}/v1/chat/completions", {}),
        bounds=bounds_of(name),
        sink=kept,
        slots=SlotsReader(None, {}, CLOCK),
    )
    yield driver
    driver.close()


def ask(job: tuple[int, str]) -> bytes:
    kept, (place, name) = Kept(), job
    with driving(kept, place, name) as driver:
        driver.run(kind(name), 0)
    return encode(kept.only())


def killed() -> bytes:
    kept = Kept()
    with driving(kept, len(names()), "") as driver:
        user = gevent.spawn(driver.run, Kind("killed", kind(SILENT).scenario, 1), 0)
        while not driver.sweeper.flights:
            gevent.sleep(0.01)
        user.kill()
    return encode(kept.only())


sys.stdout.buffer.writelines(gevent.pool.Pool(16).imap(ask, enumerate(names())))
sys.stdout.buffer.write(killed())
