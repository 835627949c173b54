"""What both drivers decide alike: when to ask for slots, what they mean, and when an exchange is ended."""

import pytest

from soakproof.clock import NS, nanoseconds
from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange, Failure
from soakproof.release import QUICK, SLOW, Look, Looks, Search
from soakproof.scenario import After, Release, Released
from soakproof.slots import Slot
from soakproof.sweep import Flight, Sweep, ending
from soakproof.testing.evidence import exchange, opened
from soakproof.units import Seconds

SEED = 1001
LEFT = 2 * NS


def cut(**more: object) -> Exchange:
    return exchange(at=1.0, took=1.0, seed=SEED, cancelled_ns=LEFT, **{"token_events": 5, **more})  # type: ignore[arg-type]


def search(within: float = 5.0, **more: object) -> Search:
    return Search(Released(cut(**more), within))


def busy(seed: int | None = SEED, decoded: int | None = None) -> Slot:
    return Slot(0, True, seed=seed, decoded=decoded)


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


@pytest.mark.parametrize(
    ("more", "decoded"),
    [({}, 295), ({"token_events": 0}, 300), ({"stream": False, "token_events": 0}, 200)],
    ids=["beyond what was sent", "in prefill", "unstreamed: beyond the first look"],
)
def test_tokens_that_are_decoded_after_the_client_left(more: dict[str, object], decoded: int) -> None:
    looking = search(5.0, **more)
    assert looking.seen(LEFT, [busy(decoded=100), busy(7, decoded=9000)]) is None
    assert looking.seen(LEFT + NS, [busy(decoded=300)]) is None
    assert looking.seen(LEFT + 2 * NS, [busy(7, decoded=9000)]) == Release(True, 2.0, decoded=decoded)


def test_what_a_slot_decoded_is_told_at_the_bound_too() -> None:
    release = search().seen(LEFT + 5 * NS, [busy(decoded=105)])
    assert release is not None
    assert (release.freed, release.decoded) == (False, 100)


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
    assert search(60, **more).pace == pace
    assert search(60, **more).pause(LEFT) == pace


def test_the_last_look_is_at_the_bound_if_the_pace_allows_it() -> None:
    waiting = search(5.0, token_events=0)
    assert waiting.pause(LEFT) == SLOW
    assert waiting.pause(LEFT + nanoseconds(2.1)) == pytest.approx(2.9)
    assert waiting.pause(LEFT + nanoseconds(4.5)) == SLOW


def test_a_look_is_shared_while_it_is_fresh_by_those_who_left_before_it() -> None:
    look = Look(10 * NS, (IDLE,))
    looks = Looks(look)
    assert looks.since(9 * NS, SLOW, 12 * NS) is look
    assert looks.since(9 * NS, QUICK, 12 * NS) is None
    assert looks.since(9 * NS, SLOW, 13 * NS) is None
    assert looks.since(11 * NS, SLOW, 12 * NS) is None
    assert looks.pause(SLOW, 12 * NS) == pytest.approx(0.1)
    assert looks.pause(SLOW, 13 * NS) == 0
    assert Looks().pause(SLOW, 0) == 0


BOUNDS = Bounds(first_token=Seconds(2), between_tokens=Seconds(1), total=Seconds(30))


def reading() -> Reading:
    return Reading(opened(exchange(at=0.0, seed=SEED)))


def streaming(reading: Reading, at: float) -> Reading:
    reading.headers(0, 200, {"content-type": "text/event-stream"})
    reading.body(nanoseconds(at), b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n')
    return reading


class Sent(Flight):
    """Carried by nobody."""

    def wake(self) -> None:
        pass


def sent(at: float = 0.0, tokens: float = 0, cancel: After | None = None) -> Sent:
    flight = Sent(reading(), BOUNDS, cancel, tokens)
    flight.reading.sent(nanoseconds(at))
    return flight


def ended(reading: Reading, at: float, cancel: After | None = None, ahead: float = 0) -> Exchange | None:
    flight = Sent(reading, BOUNDS, cancel, 0)
    flight.ahead_tokens = ahead
    how = ending(flight, nanoseconds(at))
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


def watched(sweep: Sweep, flights: list[Sent], since: float, until: float) -> None:
    """Looks every tenth of a second, as the drivers do, at those that nothing has ended."""
    for tenth in range(round(since * 10), round(until * 10)):
        sweep.look([flight for flight in flights if not flight.ended], nanoseconds(tenth / 10))


def why(flight: Sent, at: float) -> str | None:
    return flight.ended(nanoseconds(at)).failure if flight.ended else None


def test_a_neighbours_first_token_takes_nothing_of_what_another_was_allowed() -> None:
    """Two prompts of 500 tokens share a prefill: 62 s for both, before and after the first is through."""
    sweep, first, second = Sweep(slots=2), sent(tokens=500), sent(tokens=500)
    second.bounds = first.bounds = Bounds(first_token=Seconds(2), between_tokens=Seconds(90))
    watched(sweep, [first, second], 0, 45)
    streaming(first.reading, 45)
    watched(sweep, [first, second], 45, 62)
    assert second.ended is None
    watched(sweep, [first, second], 62, 63)
    assert why(second, 63) == "headers_timeout"
    assert first.ended is None


def flowing(flight: Sent, sweep: Sweep, there: list[Sent], since: float, until: float) -> None:
    """A token every half second for one, while all are looked at."""
    for half in range(round(since * 2), round(until * 2)):
        streaming(flight.reading, half / 2)
        watched(sweep, there, half / 2, half / 2 + 0.5)


def test_waiting_for_a_slot_is_not_the_requests_own_time() -> None:
    """One slot: whoever is queued behind a long answer has its whole bound when that is over."""
    sweep, long, queued = Sweep(slots=1), sent(), sent(at=1)
    flowing(long, sweep, [long], 0, 1)
    flowing(long, sweep, [long, queued], 1, 20)
    assert queued.ended is None
    watched(sweep, [queued], 20, 21.5)
    assert queued.ended is None
    watched(sweep, [queued], 21.5, 23)
    assert why(queued, 23) == "headers_timeout"


def test_a_request_that_hangs_beside_a_free_slot_is_ended_at_its_bound() -> None:
    sweep, long, hanging = Sweep(slots=2), sent(), sent(at=1)
    flowing(long, sweep, [long], 0, 1)
    flowing(long, sweep, [long, hanging], 1, 3.5)
    assert why(hanging, 3.5) == "headers_timeout"
    assert long.ended is None


def test_bounds_count_from_the_real_sending() -> None:
    """Connecting, and the wait for those that are sent together, came before it."""
    late = sent(at=5)
    assert ending(late, nanoseconds(6.9)) is None
    assert ending(late, nanoseconds(7.1)) is not None
    exchange = late.reading.broke(8 * NS, Failure.RESET, "x")
    assert (exchange.due_ns, exchange.sent_ns) == (0, 5 * NS)


PATIENT = Bounds(first_token=Seconds(60), between_tokens=Seconds(60), total=Seconds(600))


def generating(bounds: Bounds, cancel: After | None = None) -> Sent:
    """Sent at 0, its last token a second later."""
    flight = Sent(reading(), bounds, cancel, 10)
    streaming(flight.reading, 1.0)
    return flight


def test_what_generates_is_looked_at_seldom() -> None:
    assert Sweep().look([generating(PATIENT), generating(PATIENT)], NS) == 1.0
    assert Sweep().look([], NS) == 1.0


@pytest.mark.parametrize(
    "flight",
    [sent(), generating(BOUNDS), generating(PATIENT, After(seconds=30))],
    ids=["waits for its first token", "may stall before the next look", "is cancelled by time"],
)
def test_one_with_something_due_is_looked_at_often(flight: Sent) -> None:
    assert Sweep().look([generating(PATIENT), flight], NS) == 0.1


def held(at: float, answers: int, task: int = 3) -> Look:
    """A look at our busy slot and an idle one, so many seconds after the client left."""
    slots = (busy(decoded=9), Slot(1, False, task=task))
    return Look(LEFT + nanoseconds(at), slots, answers=answers)


@pytest.mark.parametrize(
    ("looks", "freed"),
    [
        ([held(1, 4), held(3, 5), held(5, 7)], None),
        ([held(1, 4), held(3, 5), held(5, 6)], False),
        ([held(1, 4), held(3, 5, task=4), held(5, 9, task=5)], False),
    ],
    ids=["old", "too few answers to tell", "a slot that is held beside one that works"],
)
def test_a_slot_is_not_held_by_a_document_that_is_old(looks: list[Look], freed: bool | None) -> None:
    wait = search()
    release = [wait.found(look) for look in looks][-1]
    assert release is not None
    assert release.freed is freed
    assert ("an earlier time" in release.reason) == (freed is None)


def test_answers_that_came_to_their_own_end_are_counted() -> None:
    looks = Looks()
    for ended in (cut(), exchange(at=1.0, token_events=5), exchange(at=1.0, outcome="fail", token_events=5)):
        looks.answered(ended)
    assert looks.answers == 1
