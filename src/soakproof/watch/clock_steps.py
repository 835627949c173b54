"""Steps of the wall clock beside the monotonic one: a correction, or a suspend. Pure: readings are handed in.

Durations never come from the wall clock; a step matters for who sets the evidence beside logs that do.
"""

from soakproof.clock import NS

_TOLERANCE_NS = NS // 4  # a clock that is slewed stays below it


class ClockSteps:
    """Told both clocks at each tick."""

    def __init__(self) -> None:
        self._offset_ns: int | None = None

    def see(self, wall_ns: int, monotonic_ns: int) -> float | None:
        """Seconds by which the wall clock has stepped since the last look; None when it has not."""
        offset = wall_ns - monotonic_ns
        step = 0 if self._offset_ns is None else offset - self._offset_ns
        self._offset_ns = offset
        return step / NS if abs(step) > _TOLERANCE_NS else None
