"""How a freed slot is looked for: when to ask /slots, and what its answers mean. Pure; both drivers share it.

How often /slots is asked matters: llama.cpp notices a client that left before its first token only after a
second without any result, and an answer to /slots is one. In mid-decode quick polling does no harm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.clock import seconds
from soakproof.scenario import Release, Released
from soakproof.slots import Slot

QUICK, SLOW = 0.1, 2.1  # seconds between polls
NOWHERE = "the target shows no slots"


@dataclass(frozen=True, slots=True)
class Search:
    """One wait for a slot. Times are nanoseconds of the run clock, taken when /slots was asked."""

    wanted: Released

    def seen(self, asked_ns: int, slots: Sequence[Slot]) -> Release | None:
        """What these slots say; None while the answer is still open."""
        since = self._since(asked_ns)
        busy = [slot for slot in slots if slot.busy]
        if not any(slot.seed == self.wanted.exchange.seed for slot in busy):
            if any(slot.seed is None for slot in busy):
                return Release(None, reason="busy slots do not say which request they work for")
            return Release(True, seconds=since)
        if since >= self.wanted.within:
            return Release(False, seconds=since, reason=f"still busy {since:.1f} s after the client left")
        return None

    def unseen(self, asked_ns: int, trouble: str) -> Release | None:
        """The slots could not be read; None while there is time to ask again."""
        return Release(None, reason=trouble) if self._since(asked_ns) >= self.wanted.within else None

    def pause(self, asked_ns: int) -> float:
        """Seconds until /slots may be asked again."""
        exchange = self.wanted.exchange
        decoding = exchange.token_events > 0 and exchange.stream
        left = self.wanted.within - self._since(asked_ns)
        return min(QUICK if decoding else SLOW, max(left, 0.01))

    def _since(self, now_ns: int) -> float:
        exchange = self.wanted.exchange
        left_ns = exchange.done_ns if exchange.cancelled_ns is None else exchange.cancelled_ns
        return seconds(now_ns - left_ns)
