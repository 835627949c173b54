"""Asks for every input under gevent, all at once, in a process of its own; a line for each exchange.

Argument: the address of the scripted server.
"""

import sys

import gevent.monkey
import gevent.pool

gevent.monkey.patch_all()

from replaying import Kept, bounds_of, kind, names, requests  # noqa: E402

from soakproof.clock import RunClock  # noqa: E402
from soakproof.load.driver import Driver  # noqa: E402
from soakproof.load.slots import SlotsReader  # noqa: E402
from soakproof.load.transport import Endpoint  # noqa: E402
from soakproof.records import encode  # noqa: E402

CLOCK = RunClock.start()


def ask(job: tuple[int, str]) -> bytes:
    place, name = job
    kept = Kept()
    driver = Driver(
        requests=requests(place),
        clock=CLOCK,
        endpoint=Endpoint(f"{sys.argv[1]}/v1/chat/completions", {}),
        bounds=bounds_of(name),
        sink=kept,
        slots=SlotsReader(None, {}, CLOCK),
    )
    driver.run(kind(name), 0)
    driver.close()
    return encode(kept.only())


sys.stdout.buffer.writelines(gevent.pool.Pool(16).imap(ask, enumerate(names())))
