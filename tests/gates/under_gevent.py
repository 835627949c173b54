"""Carries the scripts out under gevent, several at once in a process of its own; a line of JSON for each."""

import sys

import gevent.monkey
import gevent.pool

gevent.monkey.patch_all()

import orjson  # noqa: E402
from scripts import AROUND, SHORT, Book, kinds  # noqa: E402

from soakproof.clock import RunClock  # noqa: E402
from soakproof.load.driver import Driver  # noqa: E402
from soakproof.load.slots import SlotsReader  # noqa: E402
from soakproof.load.transport import Endpoint  # noqa: E402
from soakproof.plan import Kind  # noqa: E402


def main(url: str, nowhere: str) -> None:
    clock = RunClock.start()
    jobs = [(kind.name, kind, url) for kind in kinds()] + [("nobody there", kinds()[0], nowhere)]
    slots = SlotsReader(f"{url}/slots", {}, clock)
    told = gevent.pool.Pool(8).imap(lambda job: play(clock, slots, *job), enumerate(jobs))
    sys.stdout.writelines(told)


def play(clock: RunClock, slots: SlotsReader, place: int, job: tuple[str, Kind, str]) -> str:
    name, kind, url = job
    book = Book()
    driver = Driver(
        node="load",
        clock=clock,
        endpoint=Endpoint(f"{url}/v1/chat/completions", {}),
        model="tiny",
        around=AROUND,
        bounds=SHORT,
        seed=1,
        sink=book,
        slots=slots,
        first_seed=1000 * (place + 1),  # the server's slots must tell them apart
    )
    result = driver.run(kind, 0)
    driver.close()
    return f"{name}\t{orjson.dumps(book.told(result)).decode()}\n"


main(*sys.argv[1:])
