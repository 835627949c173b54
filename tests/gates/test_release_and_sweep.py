"""What both drivers decide alike: when to ask for slots, what they mean, and when an exchange is ended."""

import pytest
from judging import exchange, opened

from soakproof.clock import NS, nanoseconds
from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange
from soakproof.release import QUICK, SLOW, Search
from soakproof.scenario import After, Release, Released
from soakproof.slots import Slot
from soakproof.sweep import ending
from soakproof.units import Seconds

SEED = 1001
LEFT = 2 * NS


def cut(**more: object) -> Exchange:
    return exchange(at=1.0, took=1.0, seed=SEED, cancelled_ns=LEFT, **{"token_events": 5, **more})  # type: ignore[arg-type]


def search(within: float = 5.0, **more: object) -> Search:
    return Search(Released(cut(**more), within))


def busy(seed: int | None = SEED) -> Slot:
    return Slot(0, True, seed=seed)


IDLE = Slot(1, False)


def test_a_slot_with_another_seed_is_free_of_us() -> None:
    """A queued request takes a freed slot at once: that slot is busy, and not with ours."""
    assert search().seen(LEFT + NS // 2, [busy(7), IDLE]) == Release(True, seconds=0.5)


def test_a_slot_with_our_seed_is_waited_for_until_the_bound() -> None:
    assert search().seen(LEFT + NS, [busy()]) is None
    assert search().seen(LEFT + 5 * NS, [busy()]) == Release(
        False, seconds=5.0, reason="still busy 5.0 s after the client left"
    )


def test_busy_slots_without_a_seed_say_nothing() -> None:
    release = search().seen(LEFT, [busy(None), IDLE])
    assert release is not None
    assert release.freed is None
    assert release.reason


def test_our_own_seed_counts_even_beside_slots_without_one() -> None:
    assert search().seen(LEFT, [busy(None), busy()]) is None


def test_no_slot_busy_is_free() -> None:
    assert search().seen(LEFT, []) == Release(True, seconds=0.0)


def test_slots_that_cannot_be_read_are_unknown_only_at_the_bound() -> None:
    assert search().unseen(LEFT + NS, "/slots answered 503") is None
    assert search().unseen(LEFT + 5 * NS, "/slots answered 503") == Release(
        None, reason="/slots answered 503"
    )


@pytest.mark.parametrize(
    ("more", "pace"),
    [({}, QUICK), ({"token_events": 0}, SLOW), ({"stream": False}, SLOW)],
    ids=["mid-decode", "in prefill", "not streaming"],
)
def test_polling_never_holds_up_the_servers_own_notice(more: dict[str, object], pace: float) -> None:
    """llama.cpp looks for a client that left after a second without results, and /slots makes one."""
    assert search(60, **more).pause(LEFT) == pace


def test_the_last_look_is_at_the_bound() -> None:
    assert search(5.0, token_events=0).pause(LEFT + nanoseconds(4.5)) == pytest.approx(0.5)
    assert search(5.0).pause(LEFT + 6 * NS) > 0


BOUNDS = Bounds(first_token=Seconds(2), between_tokens=Seconds(1), total=Seconds(30))


def reading() -> Reading:
    return Reading(opened(exchange(at=0.0, seed=SEED)))


def streaming(reading: Reading, at: float) -> Reading:
    reading.headers(0, 200, {"content-type": "text/event-stream"})
    reading.body(nanoseconds(at), b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
    return reading


def ended(reading: Reading, at: float, cancel: After | None = None, ahead: float = 0) -> Exchange | None:
    how = ending(reading, BOUNDS, cancel, 0, nanoseconds(at), ahead)
    return how(nanoseconds(at)) if how else None


@pytest.mark.parametrize(
    ("at", "failure"), [(1.9, None), (2.1, "headers_timeout")], ids=["in time", "too late"]
)
def test_the_first_token_has_a_bound(at: float, failure: str | None) -> None:
    got = ended(reading(), at)
    assert (got and got.failure) == failure


def test_work_ahead_extends_it() -> None:
    assert ended(reading(), 2.1, ahead=1000) is None


@pytest.mark.parametrize(("at", "failure"), [(4.9, None), (5.1, "stall")], ids=["in time", "too late"])
def test_tokens_have_a_bound_between_them(at: float, failure: str | None) -> None:
    got = ended(streaming(reading(), 4.0), at)
    assert (got and got.failure) == failure
    assert got is None or got.reason == "stall after 5.1 s in all"


def test_a_cancel_by_time_comes_when_it_is_due() -> None:
    assert ended(streaming(reading(), 0.2), 0.4, After(seconds=0.5)) is None
    cut_off = ended(streaming(reading(), 0.2), 0.6, After(seconds=0.5))
    assert cut_off is not None
    assert cut_off.outcome == "ok"
    assert cut_off.cancelled_ns == nanoseconds(0.6)


def test_a_server_that_has_said_done_and_stays_is_let_go() -> None:
    done = streaming(reading(), 1.0)
    done.body(NS, b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    assert done.finished
    assert ended(done, 5.9, After(seconds=2.0)) is None
    let_go = ended(done, 6.1)
    assert let_go is not None
    assert (let_go.outcome, let_go.cancelled_ns) == ("ok", None)
