"""What to do, by limits and the latest looks at the host. Pure.

One look is no reason to act: the next one of the same quantity, within seconds, has to say the same. What is
not known crosses nothing; a limit that is required and has not been known for half a minute does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from soakproof.clock import NS
from soakproof.watch.guard.limits import Limit, Limits, Measured

Action = Literal["go on", "measure again", "trip"]

FRESH_S = 3.0  # looks older than this confirm nothing: the guard may have stood still between
BLIND_S = 30.0  # a required limit may be unknown for less than this


@dataclass(frozen=True, slots=True)
class Decision:
    """``reasons`` in words and the looks that caused them, the oldest first; empty unless it is a trip."""

    action: Action
    reasons: tuple[str, ...] = ()
    samples: tuple[Measured, ...] = ()


def decide(limits: Limits, samples: Sequence[Measured], now_ns: int) -> Decision:
    """``samples`` are in the order of their times, the newest last; ``now_ns`` is on their clock."""
    fresh = [s for s in samples if 0 <= now_ns - s.t_ns <= FRESH_S * NS]
    reasons: list[str] = []
    causes: list[Measured] = []
    again = False
    for limit in limits.each():
        known = [s for s in fresh if limit.value(s) is not None][-2:]
        crossed = [s for s in known if limit.is_crossed(s)]
        if len(crossed) == 2:
            reasons.append(limit.told(crossed[-1]))
            causes += crossed
        elif crossed and crossed[-1] is known[-1]:
            again = True
        elif _is_blind(limit, samples, fresh, now_ns):
            reasons.append(f"{limit.name} is required, and has not been known for {BLIND_S:.0f} s")
    if reasons:
        return Decision("trip", tuple(reasons), tuple(sorted(causes, key=lambda s: s.t_ns)))
    return Decision("measure again" if again else "go on")


def _is_blind(limit: Limit, samples: Sequence[Measured], fresh: Sequence[Measured], now_ns: int) -> bool:
    """Whether a required limit was looked for lately and has long been unknown."""
    if not limit.required or not fresh or any(limit.value(s) is not None for s in fresh):
        return False
    since = max((s.t_ns for s in samples if limit.value(s) is not None), default=samples[0].t_ns)
    return now_ns - since >= BLIND_S * NS
