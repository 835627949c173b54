"""When a sweep over the exchanges in flight ends one, and how. Pure; both drivers share it."""

from collections.abc import Callable

from soakproof.clock import nanoseconds, seconds
from soakproof.exchange import Reading
from soakproof.plan import Bounds
from soakproof.records import Exchange, Failure
from soakproof.scenario import After

LOOK_EVERY = 0.1  # seconds between two looks at everything in flight
_AFTER_FINISH = nanoseconds(5)  # a server that has said [DONE] and does not close is let go after this

Ending = Callable[[int], Exchange]  # makes the exchange's record, given the time of its end


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
