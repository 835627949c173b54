"""Counts over a whole run, and statistics of what was measured in it. No I/O."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from soakproof.records import Check, Failure

PERCENTILES: Mapping[str, int] = {"p90": 90, "p95": 95, "p99": 99}
KNOWN = "known"


def check_outcome(check: Check) -> str:
    """pass, fail or unknown; "known" where its grade names a known limit: told as that, and no failure."""
    return outcome_of(check.outcome, check.grade)


def outcome_of(outcome: str, grade: str) -> str:
    """The same of what a check told."""
    return KNOWN if outcome != "pass" and grade.startswith("known:") else outcome


@dataclass(frozen=True, slots=True)
class Counted:
    """A quantity of the whole run: how many of those decided are of a sort."""

    what: Literal["exchange", "check", "iteration"]
    describe: str
    matches: Callable[[str, Failure | None], bool]  # by outcome (or an iteration's end) and failure class
    decided: Callable[[str], bool]  # whether an outcome counts among what was looked at
    shares: bool = True  # whether `share` makes sense
    failures: bool = False  # whether what it counts are failures


COUNTED: Mapping[str, Counted] = {
    "failed_exchanges": Counted(
        "exchange", "exchanges that failed", lambda o, _: o == "fail", lambda o: o != "unknown", failures=True
    ),
    "unknown_exchanges": Counted(
        "exchange", "exchanges of unknown outcome", lambda o, _: o == "unknown", lambda _: True
    ),
    "stalls": Counted(
        "exchange",
        "answers that stalled",
        lambda _, f: f is Failure.STALL,
        lambda o: o != "unknown",
        failures=True,
    ),
    "failed_checks": Counted(
        "check",
        "checks that failed",
        lambda o, _: o == "fail",
        lambda o: o in ("pass", "fail"),
        failures=True,
    ),
    "unknown_checks": Counted(
        "check", "checks of unknown outcome", lambda o, _: o == "unknown", lambda _: True
    ),
    "iterations": Counted(
        "iteration", "completed iterations", lambda o, _: o == "completed", lambda _: True, shares=False
    ),
}


def nearest_rank(ordered: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile of numbers in ascending order: a value that really occurred."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def statistic(stat: str, numbers: Sequence[float]) -> float:
    """A statistic of numbers in ascending order, of which there is at least one."""
    if stat in PERCENTILES:
        return nearest_rank(numbers, PERCENTILES[stat])
    simple: Mapping[str, Callable[[Sequence[float]], float]] = {
        "median": statistics.median,
        "p50": statistics.median,
        "mean": statistics.fmean,
        "min": lambda values: values[0],
        "max": lambda values: values[-1],
        "count": len,
        "sum": math.fsum,
    }
    return float(simple[stat](numbers))


def thin(stat: str, n: int) -> str:
    """A warning where a percentile rests on too few samples to differ from the largest one."""
    if stat not in PERCENTILES:
        return ""
    needed = round(100 / (100 - PERCENTILES[stat]))
    return f"{stat} of {n} is the largest value: it needs {needed} or more" if n < needed else ""
