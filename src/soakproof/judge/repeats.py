"""A baseline of several runs, of one configuration that was soaked again. Pure; no I/O.

How far its runs lie apart bounds what can be said of another: answers of one run are alike in what that run
had in common, so a run is one repeat, however many answers it has.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from soakproof.columns.measured import of_kind
from soakproof.judge.evidence import Evidence
from soakproof.judge.identity import compare
from soakproof.plain import plain


@dataclass(frozen=True, slots=True)
class Apart:
    """The medians of runs, by their names; at least one."""

    medians: Mapping[str, float]

    @property
    def level(self) -> float:
        return median(self.medians.values())

    @property
    def spread(self) -> float:
        """By which share the greatest is above the least: the run-to-run range; infinite above 0."""
        least = min(self.medians.values())
        return max(self.medians.values()) / least - 1 if least else math.inf

    def place(self, value: float) -> str:
        """Where a value lies among them, in words."""
        if value < min(self.medians.values()):
            return "below all of them"
        return "above all of them" if value > max(self.medians.values()) else "within their range"


def runs_of(baseline: Evidence | None) -> tuple[Evidence, ...]:
    """All runs of a baseline."""
    return (baseline, *baseline.repeats) if baseline is not None else ()


def by_run(metric: str, baseline: Evidence | None, kind: str) -> dict[str, list[float]]:
    """The values of a kind's exchanges, run by run; runs without any are left out."""
    found = {run.id: of_kind(metric, run.exchange_table, kind) for run in runs_of(baseline)}
    return {run: there for run, there in found.items() if there}


def apart(found: Mapping[str, Sequence[float]], fewest: int = 1) -> Apart:
    """How far runs lie apart, of those with so many values that their median counts; there must be one."""
    return Apart({run: median(there) for run, there in found.items() if len(there) >= fewest})


def unlike(run: Evidence, first: Evidence) -> Iterator[str]:
    """Why two runs are not of one configuration: what must be the same, or is under test, and differs."""
    compared = compare(run, first, {})
    yield from compared.differ
    yield from (told.replace("the baseline", first.id) for told in compared.unknown)
    for one in compared.changed:
        if one["role"] == "under_test":
            yield f"{one['field']}: {plain(one['is'], 60)}, not {plain(one['was'], 60)}"
