"""The schedule: absolute, no drift, no bunching, what is late is late and what is missed is missed."""

from collections.abc import Awaitable, Callable

import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from soakproof.clock import NS
from soakproof.watch.schedule import Pace, Schedule, Tick

SECOND = Schedule(start_ns=5 * NS, period_ns=NS)


def now() -> int:
    return round(trio.current_time() * NS)


def on_mock_clock(test: Callable[[], Awaitable[None]]) -> None:
    """Run with a clock that jumps ahead whenever everything waits."""
    trio.run(test, clock=trio.testing.MockClock(autojump_threshold=0))


def test_a_late_handler_does_not_move_later_ticks() -> None:
    async def ticks() -> None:
        start = now()
        pace = Pace(Schedule(start, NS), now)
        due = []
        for busy in (0.0, 0.3, 0.9, 0.1, 0.0):
            tick = await pace.next()
            due.append(tick.due_ns - start)
            assert tick.missed == 0
            await trio.sleep(busy)
        assert due == [0, NS, 2 * NS, 3 * NS, 4 * NS]
        assert pace.missed_by(now()) == 0

    on_mock_clock(ticks)


def test_a_little_past_is_late_and_the_schedule_stays() -> None:
    async def ticks() -> None:
        pace = Pace(Schedule(now(), NS), now)
        await pace.next()
        await trio.sleep(1.2)
        late = await pace.next()
        assert (late.number, late.late_ns, late.missed) == (1, NS // 5, 0)
        after = await pace.next()
        assert (after.number, after.late_ns) == (2, 0)
        assert pace.late_max_ns == NS // 5

    on_mock_clock(ticks)


def test_what_passed_is_missed_and_not_made_up_for() -> None:
    async def ticks() -> None:
        start = now()
        pace = Pace(Schedule(start, NS), now)
        await pace.next()
        await trio.sleep(3.5)
        resumed = await pace.next()
        assert resumed == Tick(number=4, due_ns=start + 4 * NS, late_ns=0, missed=3)
        assert pace.missed_by(now()) == 3
        assert pace.had == 2

    on_mock_clock(ticks)


def test_a_process_that_was_stopped_in_its_sleep_records_how_late_it_woke() -> None:
    async def ticks() -> None:
        stopped = 0

        def clock() -> int:
            return now() + stopped

        pace = Pace(Schedule(clock(), NS), clock)
        await pace.next()
        async with trio.open_nursery() as nursery:

            async def stop() -> None:
                nonlocal stopped
                await trio.sleep(0.5)
                stopped = 10 * NS

            nursery.start_soon(stop)
            late = await pace.next()
        assert (late.number, late.missed) == (1, 0)
        assert late.late_ns == 10 * NS
        assert (await pace.next()).missed == 9

    on_mock_clock(ticks)


@given(last=st.integers(-1, 100), late=st.integers(0, 200 * NS))
def test_the_next_tick_is_never_long_past_nor_an_earlier_one(last: int, late: int) -> None:
    here = SECOND.start_ns + late
    number = SECOND.following(last, here)
    assert number > last
    assert SECOND.due(number) >= here - SECOND.period_ns // 4
    if number > last + 1:
        assert SECOND.due(number - 1) < here - SECOND.period_ns // 4


def test_ticks_that_were_due() -> None:
    assert SECOND.passed(SECOND.start_ns - 1) == 0
    assert SECOND.passed(SECOND.start_ns) == 1
    assert SECOND.passed(SECOND.start_ns + 2 * NS) == 3
