"""Exchanges in flight, and when a sweep over them ends one, and how. Pure; both drivers share it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from soakproof.clock import nanoseconds, seconds
from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange, Failure
from soakproof.scenario import After

LOOK_EVERY = 0.1  # seconds between two looks at everything in flight
_LOOK_SELDOM = 1.0  # when all that is in flight generates, and nothing is due before
_AFTER_FINISH = nanoseconds(5)  # a server that has said [DONE] and does not close is let go after this

Ending = Callable[[int], Exchange]  # makes the exchange's record, given the time of its end


@dataclass(eq=False)
class Flight:
    """One exchange on its way. Each driver adds to it what carries the exchange, and how that is woken."""

    reading: Reading
    bounds: Bounds
    cancel: After | None
    prompt_tokens: float
    ended: Ending | None = field(default=None, init=False)  # how it was ended from outside, if it was
    ahead_tokens: float = field(default=0.0, init=False)  # the most prompt work seen before its first token
    held_ns: int = field(default=0, init=False)  # how long every slot generated for others meanwhile

    @property
    def sent_ns(self) -> int:
        return self.reading.sent_ns

    @property
    def waiting(self) -> bool:
        """Nothing was seen of its first token."""
        return self.reading.token_events == 0

    @property
    def generating(self) -> bool:
        return not self.waiting and not self.reading.finished

    def end(self, how: Ending) -> None:
        """End it from outside: whoever carries it wakes and makes the record that ``how`` says."""
        if self.ended is None:
            self.ended = how
            self.wake()

    def wake(self) -> None:
        raise NotImplementedError

    def stop(self, reason: str) -> None:
        self.end(lambda now: self.reading.broke(now, Failure.STOPPED, reason))


class Sweep:
    """Looks at all that is in flight to one target, again and again."""

    def __init__(self, slots: int | None = None) -> None:
        """``slots``: how many the target has; None when that is not known."""
        self._slots = slots
        self._looked_ns: int | None = None

    def look(self, flights: Iterable[Flight], now_ns: int) -> float:
        """End those that are past a bound, or due to be cancelled by time.

        Returns after how many seconds to look again, if nothing is added to what is in flight.
        """
        there = list(flights)
        self._account(there, now_ns)
        for flight in there:
            how = ending(flight, now_ns)
            if how is not None:
                flight.end(how)
        return _LOOK_SELDOM if all(_may_wait(flight, now_ns) for flight in there) else LOOK_EVERY

    def _account(self, there: list[Flight], now_ns: int) -> None:
        """What each that waits for its first token has before it: all prompts that wait share the prefill."""
        since_ns, self._looked_ns = self._looked_ns, now_ns
        waiting = [flight for flight in there if flight.waiting]
        ahead = sum(flight.prompt_tokens for flight in waiting)
        full = self._slots is not None and sum(flight.generating for flight in there) >= self._slots
        for flight in waiting:
            flight.ahead_tokens = max(flight.ahead_tokens, ahead)
            if full and since_ns is not None:
                flight.held_ns += now_ns - max(since_ns, flight.sent_ns)


def _may_wait(flight: Flight, now_ns: int) -> bool:
    """Nothing about it is to be seen or done within the next second."""
    timed = flight.cancel is not None and flight.cancel.seconds is not None
    if timed or not flight.generating:
        return False
    due_ns, _ = flight.reading.deadline(flight.bounds, flight.ahead_tokens, flight.held_ns)
    return due_ns - now_ns > nanoseconds(_LOOK_SELDOM)


def ending(flight: Flight, now_ns: int) -> Ending | None:
    """How the exchange is to be ended now; None while it may go on."""
    reading, cancel, sent_ns = flight.reading, flight.cancel, flight.sent_ns
    if reading.finished:
        last_ns = reading.last_progress_ns or sent_ns
        return reading.end if now_ns - last_ns > _AFTER_FINISH else None
    if cancel and cancel.seconds is not None and now_ns - sent_ns >= nanoseconds(cancel.seconds):
        return reading.cancelled
    due_ns, failure = reading.deadline(flight.bounds, flight.ahead_tokens, flight.held_ns)
    if now_ns <= due_ns:
        return None
    return lambda t_ns: reading.broke(t_ns, failure, _overdue(failure, t_ns - sent_ns))


def _overdue(failure: Failure, age_ns: int) -> str:
    return f"{failure.value.replace('_', ' ')} after {seconds(age_ns):.1f} s in all"
