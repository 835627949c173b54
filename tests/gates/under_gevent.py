"""Carries scripts out under gevent, several at once in a process of its own; a line of JSON for each.

Arguments: the misbehaving server and an address where nobody listens, or the testbed's gateway and engine.
"""

import sys
from collections.abc import Iterator

import gevent.monkey
import gevent.pool

gevent.monkey.patch_all()

import orjson  # noqa: E402
from scripts import SHORT, Book, bundled_kinds, kinds, real_around, requests  # noqa: E402

from soakproof.clock import RunClock  # noqa: E402
from soakproof.load.driver import Driver  # noqa: E402
from soakproof.load.slots import SlotsReader  # noqa: E402
from soakproof.load.transport import Endpoint  # noqa: E402
from soakproof.plan import Bounds, Kind  # noqa: E402

CLOCK = RunClock.start()


def main(what: str, first: str, second: str) -> None:
    sys.stdout.writelines(misbehaving(first, second) if what == "misbehaving" else testbed(first, second))


def misbehaving(url: str, nowhere: str) -> Iterator[str]:
    jobs = [(kind.name, kind, url) for kind in kinds()] + [("nobody there", kinds()[0], nowhere)]
    slots = SlotsReader(f"{url}/slots", {}, CLOCK)

    def play(job: tuple[int, tuple[str, Kind, str]]) -> str:
        place, (name, kind, address) = job
        seeds = 1000 * (place + 1)  # the server's slots must tell them apart
        driver, book = made(address, slots, seeds)
        result = driver.run(kind, 0)
        driver.close()
        return line(name, book.told(result))

    yield from gevent.pool.Pool(8).imap(play, enumerate(jobs))


def testbed(url: str, backend: str) -> Iterator[str]:
    slots = SlotsReader(f"{backend}/slots", {}, CLOCK)
    for place, kind in enumerate(bundled_kinds()):
        driver, book = made(
            url, slots, 1000 * (place + 1), model="llm", around=real_around(), bounds=Bounds()
        )
        result = driver.run(kind, 0)
        driver.close()
        yield line(kind.name, book.told_of_a_real_server(result))


def made(
    url: str, slots: SlotsReader, first_seed: int, bounds: Bounds = SHORT, **more: object
) -> tuple[Driver, Book]:
    book = Book()
    driver = Driver(
        requests=requests(first_seed=first_seed, **more),
        clock=CLOCK,
        endpoint=Endpoint(f"{url}/v1/chat/completions", {}),
        bounds=bounds,
        sink=book,
        slots=slots,
    )
    return driver, book


def line(name: str, told: dict[str, object]) -> str:
    return f"{name}\t{orjson.dumps(told).decode()}\n"


main(*sys.argv[1:])
