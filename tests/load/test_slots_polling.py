"""How often /slots is asked, counted at a real server: silence is what lets llama.cpp notice who left."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import gevent
import pytest
import trio
from misbehaving import document, serving

from soakproof.clock import NS, RunClock
from soakproof.gates.slots import SlotsReader as TrioReader
from soakproof.gates.transport import make_client
from soakproof.load.slots import SlotsReader, await_idle_slots
from soakproof.release import SLOW
from soakproof.scenario import Release, Released
from soakproof.testing.evidence import exchange

SEED = 7


class Slots:
    """One slot that works until it is told not to; counts who asks."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[float] = []
        self.busy: Callable[[], bool] = lambda: True

    def serve(self, connection: socket.socket) -> None:
        connection.recv(65536)
        self.asked.append(time.monotonic())
        slot = {"id": 0, "is_processing": self.busy(), "params": {"seed": SEED}}
        connection.sendall(document("200 OK", [slot]))

    def silences(self) -> list[float]:
        return [later - sooner for sooner, later in zip(self.asked, self.asked[1:], strict=False)]


@contextmanager
def slots() -> Iterator[Slots]:
    server = Slots()
    with serving(server.serve) as address:
        server.url = f"{address}/slots"
        yield server


def waits(clock: RunClock, count: int, **more: object) -> list[Released]:
    """So many waits for clients that left one after the other, a tenth of a second apart."""
    now = clock.now()
    return [
        Released(exchange(seed=SEED, cancelled_ns=now + n * NS // 10, **more), 4.3)  # type: ignore[arg-type]
        for n in range(count)
    ]


def test_many_waits_ask_no_faster_than_one() -> None:
    clock = RunClock.start()
    with slots() as server:
        reader = SlotsReader(server.url, {}, clock)

        def wait(wanted: Released) -> Release:
            gevent.sleep(max(0, (wanted.exchange.cancelled_ns or 0) - clock.now()) / NS)
            return reader.released(wanted)

        jobs = [gevent.spawn(wait, wanted) for wanted in waits(clock, 5, token_events=0)]
        found = [job.get(timeout=30) for job in jobs]
        reader.close()
    assert [release.freed for release in found] == [False] * 5
    assert 3 <= len(server.asked) <= 5
    assert min(server.silences()) >= SLOW - 0.1


def test_many_waits_ask_no_faster_than_one_under_trio() -> None:
    clock = RunClock.start()
    found: list[Release] = []

    async def main() -> None:
        async with make_client({}) as client, trio.open_nursery() as nursery:
            reader = TrioReader(server.url, client, clock)

            async def wait(wanted: Released) -> None:
                await trio.sleep(max(0, (wanted.exchange.cancelled_ns or 0) - clock.now()) / NS)
                found.append(await reader.released(wanted, trio.Event()))

            for wanted in waits(clock, 5, token_events=0):
                nursery.start_soon(wait, wanted)

    with slots() as server:
        trio.run(main)
    assert [release.freed for release in found] == [False] * 5
    assert 3 <= len(server.asked) <= 5
    assert min(server.silences()) >= SLOW - 0.1


def test_after_a_cut_in_mid_decode_it_is_asked_quickly() -> None:
    clock = RunClock.start()
    with slots() as server:
        reader = SlotsReader(server.url, {}, clock)
        server.busy = lambda: len(server.asked) < 5
        (wanted,) = waits(clock, 1, token_events=5)
        release = reader.released(wanted)
        reader.close()
    assert release.freed is True
    assert len(server.asked) == 5


@pytest.mark.parametrize(("works_for", "asked", "busy"), [(0, 1, 0), (2, 3, 0), (9, 3, 1)])
def test_the_wait_for_idle_slots_looks_at_once_and_then_slowly(works_for: int, asked: int, busy: int) -> None:
    clock = RunClock.start()
    with slots() as server:
        reader = SlotsReader(server.url, {}, clock)
        server.busy = lambda: len(server.asked) <= works_for
        told = await_idle_slots(reader, clock, within=5.0)
        reader.close()
    assert (told["busy"], told["seeds"], told["reason"]) == (busy, [SEED] * busy, "")
    assert len(server.asked) == asked
    assert all(silence >= SLOW - 0.1 for silence in server.silences())


def test_where_no_slots_are_shown_nothing_is_waited_for() -> None:
    clock = RunClock.start()
    told = await_idle_slots(SlotsReader(None, {}, clock), clock)
    assert (told["busy"], told["reason"]) == (None, "the target shows no slots")
    assert told["waited_s"] < 1
