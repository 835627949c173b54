"""Exchanges in flight, and when a sweep over them ends one, and how. Pure; both drivers share it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from soakproof.clock import nanoseconds, seconds
from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange, Failure
from soakproof.scenario import After

LOOK_EVERY = 0.1  # seconds between two looks at everything in flight
_AFTER_FINISH = nanoseconds(5)  # a server that has said [DONE] and does not close is let go after this

Ending = Callable[[int], Exchange]  # makes the exchange's record, given the time of its end


@dataclass(eq=False)
class Flight:
    """One exchange on its way. Each driver adds to it what carries the exchange, and how that is woken."""

    reading: Reading
    bounds: Bounds
    cancel: After | None
    prompt_tokens: float
    sent_ns: int
    ended: Ending | None = field(default=None, init=False)  # how it was ended from outside, if it was

    def end(self, how: Ending) -> None:
        """End it from outside: whoever carries it wakes and makes the record that ``how`` says."""
        if self.ended is None:
            self.ended = how
            self.wake()

    def wake(self) -> None:
        raise NotImplementedError

    def stop(self, reason: str) -> None:
        self.end(lambda now: self.reading.broke(now, Failure.STOPPED, reason))


def sweep(flights: Iterable[Flight], now_ns: int) -> None:
    """End those that are past a bound, or due to be cancelled by time."""
    there = list(flights)
    ahead = sum(f.prompt_tokens for f in there if f.reading.token_events == 0)
    for flight in there:
        how = ending(flight.reading, flight.bounds, flight.cancel, flight.sent_ns, now_ns, ahead)
        if how is not None:
            flight.end(how)


def ending(
    reading: Reading, bounds: Bounds, cancel: After | None, sent_ns: int, now_ns: int, ahead_tokens: float
) -> Ending | None:
    """How the exchange is to be ended now; None while it may go on.

    ``ahead_tokens``: prompt tokens of all that still wait for a first token; they share the prefill.
    """
    if reading.finished:
        last_ns = reading.last_progress_ns or sent_ns
        return reading.end if now_ns - last_ns > _AFTER_FINISH else None
    if cancel and cancel.seconds is not None and now_ns - sent_ns >= nanoseconds(cancel.seconds):
        return reading.cancelled
    due_ns, failure = reading.deadline(bounds, ahead_tokens)
    if now_ns <= due_ns:
        return None
    return lambda t_ns: reading.broke(t_ns, failure, _overdue(failure, t_ns - sent_ns))


def _overdue(failure: Failure, age_ns: int) -> str:
    return f"{failure.value.replace('_', ' ')} after {seconds(age_ns):.1f} s in all"
