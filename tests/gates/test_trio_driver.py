"""What the trio driver does of its own: cancellation from outside, stopping, errors of ours."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import trio
import trio.testing
from flying import flying
from misbehaving import SAYS, Server, document, misbehaving
from scripts import SHORT, Book, Bystander, One

from soakproof.context import Checked
from soakproof.errors import RecorderError
from soakproof.gates.driver import Driver
from soakproof.gates.transport import Barrier
from soakproof.iteration import Result
from soakproof.plan import Bounds, Kind
from soakproof.records import Exchange, Opened
from soakproof.scenario import After, Ask, Finish, Scenario, Script, Start, Together
from soakproof.units import Seconds

PATIENT = Bounds(first_token=Seconds(60), between_tokens=Seconds(60))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with misbehaving() as server:
        yield server


def play(server: Server, scenario: Scenario, book: Book, bounds: Bounds = SHORT) -> Result:
    async def main() -> Result:
        async with flying(server.url, book, bounds=bounds) as driver:
            return await driver.run(Kind("kind", scenario, 1), 0)

    return trio.run(main)


@dataclass(frozen=True)
class Three(Scenario):
    """A started one and two together, all of them without an end."""

    checks = ("three.all",)

    def iterate(self, it: object) -> Script:
        other = yield Start(Ask("behave: stall-in-stream", role="started"))
        yield Together(Ask("behave: silent", role="a"), Ask("behave: stall-at-first", role="b"))
        yield Finish(other)


async def all_fly(driver: Driver, number: int) -> None:
    """Wait until so many requests have been sent."""
    while len(driver.flights) < number or not all(f.sending for f in driver.flights):
        await trio.sleep(0.01)


def test_a_cancel_from_outside_is_no_failure_of_the_server(server: Server) -> None:
    book = Book()

    async def main() -> bool:
        async with flying(server.url, book, bounds=PATIENT) as driver, trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:

                async def cancel() -> None:
                    await all_fly(driver, 3)
                    scope.cancel()

                nursery.start_soon(cancel)
                await driver.run(Kind("kind", Three(), 1), 0)
            return scope.cancelled_caught

    assert trio.run(main)
    assert len(book.begun) == len(book.exchanges) == 3
    assert {(e.outcome, e.failure) for e in book.exchanges} == {("unknown", "stopped")}


def test_a_stop_ends_all_in_flight_and_begins_nothing(server: Server) -> None:
    book = Book()

    async def main() -> Result:
        async with flying(server.url, book, bounds=PATIENT) as driver:
            async with trio.open_nursery() as nursery:

                async def stop_when_all_fly() -> None:
                    await all_fly(driver, 3)
                    driver.stop("enough")

                nursery.start_soon(stop_when_all_fly)
                result = await driver.run(Kind("kind", Three(), 1), 0)
            again = await driver.run(Kind("kind", One(), 1), 1)
            assert again.end == "stopped"
            return result

    result = trio.run(main)
    assert (result.end, result.reason) == ("stopped", "enough")
    assert [c.outcome for c in result.checked] == [None]
    assert len(book.begun) == 3
    assert {(e.role, e.outcome, e.failure) for e in book.exchanges} == {
        (role, "unknown", "stopped") for role in ("started", "a", "b")
    }


def test_a_stop_ends_the_wait_for_a_slot(server: Server) -> None:
    """The slot of a request that the server still works on: nobody waits for it once stopped."""
    book = Book()
    server.busy[0] = 1001  # the seed of the second request

    async def main() -> tuple[Result, float]:
        async with flying(server.url, book, bounds=PATIENT) as driver, trio.open_nursery() as nursery:

            async def stop_at_the_search() -> None:
                while len(book.exchanges) < 2:
                    await trio.sleep(0.01)
                driver.stop("enough")

            nursery.start_soon(stop_at_the_search)
            began = trio.current_time()
            result = await driver.run(Kind("kind", Bystander(), 1), 0)
            return result, trio.current_time() - began

    try:
        result, took = trio.run(main)
    finally:
        del server.busy[0]
    assert result.end == "stopped"
    assert took < 4.5  # the search alone would have taken 5 s


@dataclass(frozen=True)
class Order(Scenario):
    """What comes back when."""

    checks = ("order.started", "order.finished")

    def iterate(self, it: object) -> Script:
        other = yield Start(Ask("behave: long", role="long", cancel=After(tokens=60)))
        it.check("order.started", None, reason="at its first token")  # type: ignore[attr-defined]
        yield Ask("behave: whole", role="short")
        whole = yield Finish(other)
        it.check("order.finished", whole.token_events >= 60, whole)  # type: ignore[attr-defined]


class Diary(Book):
    """The order in which things are told."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def opened(self, record: Opened, ask: object = None) -> None:
        super().opened(record)
        assert isinstance(ask, Ask)
        self.lines.append(f"asks {ask.role}")

    def closed(self, record: Exchange) -> None:
        super().closed(record)
        self.lines.append(f"ends {record.role}")

    def checked(self, checked: object) -> None:
        assert isinstance(checked, Checked)
        self.lines.append(f"checks {checked.name}")


def test_everything_is_told_as_it_happens(server: Server) -> None:
    diary = Diary()
    result = play(server, Order(), diary)
    assert result.end == "completed"
    assert diary.lines == [
        "asks long",
        "checks order.started",
        "asks short",
        "ends short",
        "ends long",
        "checks order.finished",
    ]


def test_a_cancel_comes_at_its_token(server: Server) -> None:
    book = Book()
    play(server, One("long", after_tokens=7), book)
    (cut,) = book.exchanges
    assert cut.outcome == "ok"
    assert cut.cancelled_ns is not None
    assert cut.text.startswith("t0 t1 t2 t3 t4 t5 t6 ")
    assert 7 <= cut.token_events < 100


class FullDisk(Book):
    """A recorder that cannot write."""

    def closed(self, record: Exchange) -> None:
        super().closed(record)
        raise RecorderError("no space left")


@pytest.mark.parametrize("scenario", [One(), Bystander(), Three()], ids=lambda s: type(s).__name__)
def test_an_error_of_ours_comes_out_as_itself(server: Server, scenario: Scenario) -> None:
    book = FullDisk()
    with pytest.raises(RecorderError, match="no space left"):
        play(server, scenario, book)
    assert len(book.begun) == len(book.exchanges)


def test_a_fault_of_the_transport_itself_is_ours(server: Server) -> None:
    book = Book()

    async def main() -> None:
        async with flying(server.url, book) as driver:
            driver.client.headers["X-Broken"] = "a\nb"
            await driver.run(Kind("kind", One(), 1), 0)

    with pytest.raises(Exception, match=r"(?i)illegal"):
        trio.run(main)
    assert [e.failure for e in book.exchanges] == ["generator"]


def test_what_must_not_be_written_is_not(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    told = document("401 Unauthorized", {"error": {"message": "bad key sk-verysecret"}})
    monkeypatch.setitem(SAYS, "quotes the key", told)
    book = Book()

    async def main() -> None:
        async with flying(server.url, book, redact=("sk-verysecret",)) as driver:
            await driver.run(Kind("kind", One("quotes the key"), 1), 0)

    trio.run(main)
    (refused,) = book.exchanges
    assert refused.failure == "configuration"
    assert "verysecret" not in repr(refused)


def test_each_request_has_a_seed_of_its_own(server: Server) -> None:
    book = Book()

    async def main() -> None:
        async with flying(server.url, book, first_seed=5 << 20) as driver:
            for number in range(3):
                await driver.run(Kind("kind", One(), 1), number)

    trio.run(main)
    assert [e.seed for e in book.exchanges] == [(5 << 20) + n for n in range(3)]
    assert len({e.secrets for e in book.exchanges}) == 3


def test_without_slots_a_release_is_unknown_at_once(server: Server) -> None:
    book = Book()

    async def main() -> Result:
        async with flying(server.url, book, slots_url=None) as driver:
            return await driver.run(Kind("kind", Bystander(finish=False), 1), 0)

    result = trio.run(main)
    released = result.checked[0]
    assert (released.name, released.outcome) == ("by.released", None)
    assert "shows no slots" in released.reason


def test_a_barrier_opens_when_all_have_come_or_said_that_they_cannot() -> None:
    order: list[str] = []

    async def main() -> None:
        barrier = Barrier(3)

        async def come(name: str) -> None:
            await barrier.wait()
            order.append(name)

        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(come, "a")
                nursery.start_soon(come, "b")
                await trio.testing.wait_all_tasks_blocked()
                assert order == []
                barrier.arrive()

    trio.run(main)
    assert sorted(order) == ["a", "b"]


def test_what_goes_together_is_due_at_its_asking_and_sent_when_all_can_go(server: Server) -> None:
    @dataclass(frozen=True)
    class Two(Scenario):
        checks = ()
        width = 2

        def iterate(self, it: object) -> Script:
            yield Together(Ask("behave: whole", role="a"), Ask("behave: whole", role="b"))

    book = Book()
    play(server, Two(), book)
    a, b = book.exchanges
    connected = max(a.sent_ns, b.sent_ns)
    assert max(a.due_ns, b.due_ns) < min(a.sent_ns, b.sent_ns)
    assert connected < min(a.first_token_ns or 0, b.first_token_ns or 0)
