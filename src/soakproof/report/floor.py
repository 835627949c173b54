"""The floor of available memory that a policy set, as its own findings tell it. No I/O."""

from soakproof.judge.finding import Verdict


def memory_floor(verdict: Verdict) -> float | None:
    """Bytes; None when no finding tells a floor."""
    return None
