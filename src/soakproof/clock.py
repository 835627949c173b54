"""The run clock: monotonic nanoseconds since the run's zero, shared by every process of a run.

Durations never come from wall time. The wall time of the zero stands in run.json, as a label only.
"""

import time
from dataclasses import dataclass

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class RunClock:
    """Nanoseconds since ``zero_ns``, a CLOCK_MONOTONIC reading that all processes of the host share."""

    zero_ns: int

    @classmethod
    def start(cls) -> "RunClock":
        return cls(time.monotonic_ns())

    def now(self) -> int:
        return time.monotonic_ns() - self.zero_ns


def seconds(ns: int) -> float:
    return ns / NS


def nanoseconds(seconds: float) -> int:
    return round(seconds * NS)
