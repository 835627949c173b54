"""The bounds on memory that a policy set, as the memory adjudicator's findings tell them. No I/O."""

import re
from dataclasses import dataclass

from soakproof.judge.finding import Verdict
from soakproof.units import Bytes

_LIMIT = re.compile(r"at (?:least|most) (.+)")


@dataclass(frozen=True, slots=True)
class MemoryBounds:
    """Bytes, or None where the policy has no such bound."""

    floor: float | None = None  # of the host's available memory
    gtt_ceiling: float | None = None


NO_BOUNDS = MemoryBounds()


def memory_bounds(verdict: Verdict) -> MemoryBounds:
    """The floor and the ceiling, to be drawn into the figure that shows them kept or broken."""
    limits = {f.subject.partition(":")[0]: f.limit for f in verdict.findings if f.adjudicator == "memory"}
    return MemoryBounds(_size(limits.get("available", "")), _size(limits.get("gtt", "")))


def _size(limit: str) -> float | None:
    match = _LIMIT.fullmatch(limit)
    if not match:
        return None
    try:
        return Bytes.parse(match[1])
    except ValueError:
        return None
