"""Permits are fair, all-at-once, and never lost."""

import gevent
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.load.permits import Permits


def test_a_wide_taker_is_not_overtaken_by_narrow_ones():
    permits, order = Permits(2), []
    permits.take(1)

    def taker(name: str, width: int) -> None:
        taken = permits.take(width)
        order.append(name)
        permits.give(taken)

    waiting = [gevent.spawn(taker, "wide", 2), gevent.spawn(taker, "narrow", 1)]
    gevent.sleep(0)
    assert order == []
    permits.give(1)
    gevent.joinall(waiting)
    assert order == ["wide", "narrow"]


def test_more_than_there_are_takes_all():
    permits = Permits(1)
    assert permits.take(2) == 1


def test_a_killed_waiter_blocks_nobody():
    permits = Permits(2)
    permits.take(2)
    killed, next_one = gevent.spawn(permits.take, 2), gevent.spawn(permits.take, 1)
    gevent.sleep(0)
    killed.kill()
    permits.give(1)
    assert next_one.get(timeout=1) == 1


def test_a_waiter_killed_as_its_turn_comes_gives_its_permits_back():
    permits = Permits(1)
    permits.take(1)
    waiter = gevent.spawn(permits.take, 1)
    gevent.sleep(0)
    waiter.kill(block=False)
    permits.give(1)  # its turn is set before the kill arrives, and its notice comes after
    waiter.join()
    assert isinstance(waiter.value, gevent.GreenletExit)
    assert gevent.spawn(permits.take, 1).get(timeout=1) == 1


@settings(max_examples=50)
@given(widths=st.lists(st.integers(1, 4), max_size=12), total=st.integers(1, 4))
def test_never_more_than_the_total_and_all_come_to_their_turn(widths: list[int], total: int):
    permits, held, most, served = Permits(total), 0, 0, 0

    def taker(width: int) -> None:
        nonlocal held, most, served
        taken = permits.take(width)
        held += taken
        most = max(most, held)
        gevent.sleep(0)
        held -= taken
        served += 1
        permits.give(taken)

    gevent.joinall([gevent.spawn(taker, width) for width in widths], timeout=5)
    assert served == len(widths)
    assert most <= total
