"""Conditions of the machine: power settings that were switched, and clocks that moved, while the load ran."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from soakproof.judge import (
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Ratio,
    finding,
    listed,
    plain,
)
from soakproof.judge.series import Series, during_load, reading, series
from soakproof.judge.switches import Switch, settings_seen

BUSY = 50.0  # percent of load from which a GPU's clock means something
LEAST = 150  # readings of a busy GPU in each half: the boost of the first minutes is no change
CLOCKS: Mapping[str, str] = {"gpu_clock_hz": "clock", "memory_clock_hz": "memory clock"}
BESIDE: Mapping[str, tuple[str, str]] = {
    "temperature_celsius": ("temperature", "°C"),
    "power_watts": ("power", "W"),
}
_GHZ = 1e9


@dataclass(frozen=True)
class Conditions(Adjudicator):
    """Was the machine the same in both halves of the load?

    A power profile that was switched, or a busy GPU's clock that moved by more than ``clocks`` from the first
    half to the second, is no fault of the server, and rates then say little of it. ``required``: settings
    that could not be read make the run inconclusive.
    """

    required: bool = False
    clocks: Ratio = Ratio(0.10)
    ranges = Ranges(clocks=(0, 10))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._settings(evidence)
        for name in sorted(n for n in evidence.samples if n.startswith(("amdgpu:", "nvidia:"))):
            yield from self._clocks(evidence, name)

    def _settings(self, evidence: Evidence) -> Finding:
        seen, switched = settings_seen(evidence)
        if not seen:
            answer = "No power profile, governor or performance level could be read."
            limit = "read, and none switched"
            return finding(
                self, "settings", Outcome.INCONCLUSIVE, answer, limit=limit, critical=self.required
            )
        if switched:
            answer = f"No: {listed([_told(switch) for switch in switched], 5, '; ')}."
            return finding(
                self,
                "settings",
                Outcome.INCONCLUSIVE,
                answer,
                limit="none switched",
                span=(switched[0].at, switched[-1].at),
                fault="host",
            )
        told = listed([f"{name} {plain(value, 40)}" for name, value in sorted(seen.items())], 4)
        return finding(self, "settings", Outcome.PASS, f"None of its {len(seen)} settings changed: {told}.")

    def _clocks(self, evidence: Evidence, card: str) -> Iterator[Finding]:
        for value, name in CLOCKS.items():
            early, late = _halves(evidence, card, value)
            if min(len(early), len(late)) < LEAST or not median(early.values):
                continue
            before, after = median(early.values), median(late.values)
            moved = after / before - 1
            yield finding(
                self,
                f"{name}: {card}",
                Outcome.INCONCLUSIVE if abs(moved) > self.clocks else Outcome.PASS,
                f"While busy its {name} was {before / _GHZ:.2f} GHz in the first half and "
                f"{after / _GHZ:.2f} GHz in the second ({moved:+.1%}).",
                figures=(
                    *_figures(name, before / _GHZ, after / _GHZ, "GHz", len(early) + len(late)),
                    *_beside(evidence, card),
                ),
                limit=f"at most {self.clocks:.0%} of a difference",
                limit_source="policy",
                fault="host" if abs(moved) > self.clocks else "",
            )


def _told(switch: Switch) -> str:
    return f"{switch.name} went from {plain(switch.was, 40)} to {plain(switch.now, 40)} at {switch.at:.0f} s"


def _halves(evidence: Evidence, card: str, value: str) -> tuple[Series, Series]:
    """A busy GPU's readings in the first and in the second half of the load."""
    told, busy = evidence.samples[card], reading("busy_percent")
    found = during_load(evidence, series(told.take(busy(told) >= BUSY), reading(value)))
    whole = during_load(evidence, series(told, busy))
    middle = (whole.times[0] + whole.times[-1]) / 2 if whole.times else 0.0
    early = sum(at <= middle for at in found.times)
    return (
        Series(found.times[:early], found.values[:early]),
        Series(found.times[early:], found.values[early:]),
    )


def _beside(evidence: Evidence, card: str) -> Iterator[Figure]:
    for value, (name, unit) in BESIDE.items():
        early, late = _halves(evidence, card, value)
        if len(early) and len(late):
            yield from _figures(name, median(early.values), median(late.values), unit, len(early) + len(late))


def _figures(name: str, before: float, after: float, unit: str, n: int) -> tuple[Figure, Figure]:
    return (
        Figure(name=f"{name}, first half", value=round(before, 3), unit=unit, n=n),
        Figure(name=f"{name}, second half", value=round(after, 3), unit=unit, n=n),
    )
