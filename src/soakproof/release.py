"""How a freed slot is looked for: when to ask /slots, and what its answers mean. Pure; both drivers share it.

How often /slots is asked matters: llama.cpp notices a client that left before its first token only after a
second without any result, and an answer to /slots is one. In mid-decode quick polling does no harm.
All waits of a run share the looks that are taken, so that together they ask no faster than one of them would.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from soakproof.clock import seconds
from soakproof.records import Exchange
from soakproof.scenario import Release, Released
from soakproof.slots import Slot

QUICK, SLOW = 0.1, 2.1  # seconds between two looks
UNTOLD = "busy slots do not say which request they work for"
SEEDLESS = "busy slots work for requests without a seed: it was taken away on the way, or somebody else asks"
OLD = "/slots tells of an earlier time: it stayed the same while requests came and went"
LEAST_ANSWERS = 3  # meanwhile, for it to be old
NOWHERE = "the target shows no slots"


@dataclass(frozen=True, slots=True)
class Look:
    """What /slots said; ``asked_ns`` is the run clock's time just before it was asked."""

    asked_ns: int
    slots: tuple[Slot, ...] = ()
    trouble: str = ""  # why the slots could not be seen, if so
    answers: int = 0  # that the run had been given by then


@dataclass(slots=True)
class Looks:
    """The latest look of a run, for all that wait for a slot."""

    last: Look | None = None
    answers: int = 0  # that came to their own end

    def answered(self, exchange: Exchange) -> None:
        """Count an answer: each is a task of its own, which a slot goes on to show."""
        whole = exchange.outcome == "ok" and exchange.failure is None and exchange.cancelled_ns is None
        self.answers += whole and exchange.token_events > 0

    def since(self, left_ns: int, pace: float, now_ns: int) -> Look | None:
        """The latest look, if it is still fresh and was taken after ``left_ns``."""
        last = self.last
        return last if last and last.asked_ns >= left_ns and self.pause(pace, now_ns) > 0 else None

    def pause(self, pace: float, now_ns: int) -> float:
        """Seconds until the next look may be taken, 0 for now."""
        return max(0.0, pace - seconds(now_ns - self.last.asked_ns)) if self.last else 0.0


@dataclass(slots=True)
class Search:
    """One wait for a slot. Times are nanoseconds of the run clock, taken when /slots was asked."""

    wanted: Released
    decoded: int | None = field(default=None, init=False)  # tokens since the client left, as far as seen
    _before: int | None = field(default=None, init=False)
    _first: Look | None = field(default=None, init=False)
    _is_same: bool = field(default=True, init=False)  # no look was another than the first

    @property
    def left_ns(self) -> int:
        """When the client left."""
        exchange = self.wanted.exchange
        return exchange.done_ns if exchange.cancelled_ns is None else exchange.cancelled_ns

    @property
    def pace(self) -> float:
        """Seconds that must lie between two looks."""
        exchange = self.wanted.exchange
        return QUICK if exchange.token_events > 0 and exchange.stream else SLOW

    def found(self, look: Look) -> Release | None:
        """What the look says; None while the answer is still open."""
        if look.trouble:
            return self.unseen(look.asked_ns, look.trouble)
        self._first = self._first or look
        self._is_same = self._is_same and look.slots == self._first.slots
        release = self.seen(look.asked_ns, look.slots)
        if release and release.freed is False and self._is_old(look.answers - self._first.answers):
            return Release(None, seconds=release.seconds, reason=OLD)
        return release

    def _is_old(self, answers: int) -> bool:
        """Whether what /slots says is of an earlier time: nothing in it moved while answers were made."""
        return self._is_same and answers >= LEAST_ANSWERS

    def seen(self, asked_ns: int, slots: Sequence[Slot]) -> Release | None:
        """What these slots say; None while the answer is still open."""
        since = self._since(asked_ns)
        busy = [slot for slot in slots if slot.busy]
        self._count(busy)
        if not any(slot.seed == self.wanted.exchange.seed for slot in busy):
            if any(slot.seed is None for slot in busy):
                return Release(None, reason=SEEDLESS if any(slot.seedless for slot in busy) else UNTOLD)
            return Release(True, seconds=since, decoded=self.decoded)
        if since >= self.wanted.within:
            reason = f"still busy {since:.1f} s after the client left"
            return Release(False, seconds=since, reason=reason, decoded=self.decoded)
        return None

    def unseen(self, asked_ns: int, trouble: str) -> Release | None:
        """The slots could not be read; None while there is time to ask again."""
        return Release(None, reason=trouble) if self._since(asked_ns) >= self.wanted.within else None

    def pause(self, asked_ns: int) -> float:
        """Seconds from a look to the next: the pace, or to the bound if only one more fits before that."""
        left = self.wanted.within - self._since(asked_ns)
        return left if self.pace <= left < 2 * self.pace else self.pace

    def wait_s(self, look: Look, now_ns: int) -> float:
        """Seconds from now to the look that follows this one; 0 when it is due."""
        return max(0.0, self.pause(look.asked_ns) - seconds(now_ns - look.asked_ns))

    def _count(self, busy: Sequence[Slot]) -> None:
        """Tokens beyond those that the client was sent; unstreamed, beyond those of the first look."""
        exchange = self.wanted.exchange
        for slot in busy:
            if slot.seed == exchange.seed and slot.decoded is not None:
                if self._before is None:
                    self._before = exchange.token_events if exchange.stream else slot.decoded
                self.decoded = max(0, slot.decoded - self._before)

    def _since(self, now_ns: int) -> float:
        return seconds(now_ns - self.left_ns)
