"""How much of what was planned really happened, and how much of it the watch saw."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ratio,
    counted,
    finding,
    plain,
)
from soakproof.records import Sample

ON_CHANGE = ("kernel_log",)  # sources that write a sample at the start and on change only


@dataclass(frozen=True)
class Coverage(Adjudicator):
    """Did the run do what its plan says, and did the watch see enough of it?

    ``decks`` is how often each kind's count of the mix must have been completed; one iteration of each kind
    is wanted in any case. A source in ``required`` also stands for those that its name begins:
    ``process:backend`` for ``process:backend-2``.
    """

    decks: int = 1
    duration: Ratio = Ratio(0.95)
    samples: Ratio = Ratio(0.95)
    required: tuple[str, ...] = ("memory", "slots", "process:backend")

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._duration(evidence)
        yield from self._kinds(evidence)
        if self.required:
            yield self._watch(evidence)
        for name in self.required:
            yield self._on_change(evidence, name) if name in ON_CHANGE else self._source(evidence, name)
        yield from self._blind(evidence)

    def _duration(self, evidence: Evidence) -> Finding:
        planned, lasted = evidence.plan.get("duration_s"), evidence.duration
        ended = evidence.run.get("ended") or {}
        how = f", ended by {plain(ended['why'], 40)}" if ended.get("why") else ""
        if lasted is None or planned is None:
            outcome, answer = Outcome.INCONCLUSIVE, f"How long the load lasted is not known{how}."
        else:
            outcome = _enough(lasted >= self.duration * planned)
            answer = f"The load lasted {lasted:.1f} s where {planned:.0f} s were planned{how}."
        return finding(
            self,
            "duration",
            outcome,
            answer,
            figures=(Figure(name="duration", value=lasted, unit="s"),),
            limit=f"{self.duration:.0%} of {planned or 0:g} s" if planned else "",
            limit_source="policy, plan",
        )

    def _kinds(self, evidence: Evidence) -> Iterable[Finding]:
        kinds = [k for k in evidence.plan.get("kinds") or () if k.get("count")]
        if not kinds:
            yield finding(self, "kinds", Outcome.INCONCLUSIVE, "The plan's kinds are not known.")
        for kind in kinds:
            yield self._kind(evidence, str(kind["name"]), int(kind["count"]))
        if len(kinds) > 1:
            yield self._mix(evidence, {str(k["name"]): int(k["count"]) for k in kinds})

    def _kind(self, evidence: Evidence, name: str, count: int) -> Finding:
        ends = Counter(i.end for i in evidence.iterations if i.scenario == name)
        wanted = max(1, count * self.decks)
        others = ", ".join(f"{n} {end}" for end, n in sorted(ends.items()) if end != "completed")
        return finding(
            self,
            name,
            _enough(ends["completed"] >= wanted),
            f"{counted(ends['completed'], 'iteration')} completed{f' ({others})' if others else ''}; "
            f"at least {wanted} wanted.",
            figures=(Figure(name="completed", value=ends["completed"], n=sum(ends.values())),),
            limit=f"at least {wanted}",
            limit_source="policy, plan",
        )

    def _mix(self, evidence: Evidence, counts: Mapping[str, int]) -> Finding:
        """Each load node deals decks of its own, so each may be within one deck it has begun."""
        dealt = Counter(i.scenario for i in evidence.iterations)
        nodes = max(1, len({i.node for i in evidence.iterations}))
        most = max(math.ceil(dealt[name] / count) for name, count in counts.items())
        least = min(dealt[name] // count for name, count in counts.items())
        kept = most - least <= nodes
        told = ", ".join(f"{dealt[name]} {name}" for name in counts)
        return finding(
            self,
            "mix",
            _enough(kept),
            f"Dealt {told}: {'as the mix says' if kept else 'not in the proportion of the mix'}.",
            figures=tuple(
                Figure(name=name, value=dealt[name], note=f"{c} in a deck") for name, c in counts.items()
            ),
            limit=f"within {counted(nodes, 'deck')}",
            limit_source="plan",
        )

    def _watch(self, evidence: Evidence) -> Finding:
        """Whether the watch was there from the load's beginning to its end."""
        ended = [e for e in evidence.events if e.what == "watch_ended"]
        problem = _absence(evidence) or ("" if ended else "it never told its end, so it was killed")
        details = ended[-1].details if ended else {}
        return finding(
            self,
            "watch",
            _enough(not problem),
            f"The watch did not see all of the run: {problem}." if problem else "It was there all the time.",
            figures=tuple(
                Figure(name=name, value=_number(details.get(name)), unit=unit)
                for name, unit in (("ticks_due", ""), ("ticks_missed", ""), ("late_max_ms", "ms"))
            ),
        )

    def _source(self, evidence: Evidence, name: str) -> Finding:
        """Whether a required source had a value often enough while the load ran."""
        samples = _during_load(evidence, _named(evidence, name))
        good = len({s.due_ns for s in samples if s.state == "value"})
        every = _interval(evidence, name)
        due = None if evidence.duration is None else int(evidence.duration / every)
        enough = due is not None and good >= max(1, self.samples * due)
        without = _without(samples)
        gap = _widest(samples)
        return finding(
            self,
            f"source {name}",
            _enough(enough),
            f"{good} readings with a value of {'an unknown number' if due is None else due} due"
            f"{f'; {without}' if without else ''}{'' if samples else '; it was never sampled'}.",
            figures=(
                Figure(name="readings", value=good, n=due),
                Figure(name="widest gap", value=gap, unit="s", n=good),
            ),
            limit=f"{self.samples:.0%} of one each {every:g} s",
            limit_source="policy, plan",
        )

    def _on_change(self, evidence: Evidence, name: str) -> Finding:
        """Whether a required source, which tells its state only when that changes, was there all the time."""
        samples = _named(evidence, name)
        there = bool(samples) and all(s.state == "value" for s in samples)
        missing = _without(samples) or "it was never sampled"
        return finding(
            self,
            f"source {name}",
            _enough(there),
            "It was there all the time." if there else f"It was not there all the time: {missing}.",
            limit="all the time",
            limit_source="policy",
        )

    def _blind(self, evidence: Evidence) -> Iterable[Finding]:
        """Sources that said nothing at all for a reason: told, and not what decides."""
        told = []
        for source, samples in sorted(evidence.samples.items()):
            if not any(s.state == "value" for s in samples):
                told.append(f"{source}: {_without(samples)}")
        if told:
            answer = f"Not seen in this run: {'; '.join(told)}."
            yield finding(self, "blind sources", Outcome.INCONCLUSIVE, plain(answer, 600), critical=False)


def _enough(is_enough: bool) -> Outcome:
    return Outcome.PASS if is_enough else Outcome.INCONCLUSIVE


def _named(evidence: Evidence, name: str) -> list[Sample]:
    """Samples of a source, and of those that its name begins."""
    return [
        sample
        for source, samples in evidence.samples.items()
        if source == name or source.startswith((f"{name}:", f"{name}-"))
        for sample in samples
    ]


def _absence(evidence: Evidence) -> str:
    """What part of the load the watch did not see, in words; empty when it saw all of it."""
    times = [s.t_ns for samples in evidence.samples.values() for s in samples if s.node == "watch"]
    start, end = evidence.load_ns
    slack = max(5.0, 3 * _interval(evidence, "memory")) * NS
    if not times:
        return "it left no sample"
    if end is None:
        return "when the load ended is not known"
    if min(times) > start + slack:
        return f"its first sample came {(min(times) - start) / NS:.1f} s after the load's start"
    if max(times) < end - slack:
        return f"its last sample came {(end - max(times)) / NS:.1f} s before the load's end"
    return ""


def _during_load(evidence: Evidence, samples: Iterable[Sample]) -> list[Sample]:
    """In order of time."""
    start, end = evidence.load_ns
    inside = [s for s in samples if start <= s.due_ns and (end is None or s.due_ns <= end)]
    return sorted(inside, key=lambda s: s.due_ns)


def _interval(evidence: Evidence, source: str) -> float:
    """Seconds between two readings, as the plan says."""
    watch: Mapping[str, Any] = evidence.plan.get("watch") or {}
    key, default = ("slots_every_s", 2.5) if source == "slots" else ("interval_s", 1.0)
    return float(watch.get(key) or default)


def _without(samples: Sequence[Sample]) -> str:
    """How often there was no value, by state, with the first reason."""
    states = Counter(s.state for s in samples if s.state != "value")
    reason = next((s.reason for s in samples if s.state != "value" and s.reason), "")
    told = ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
    return f"{told} ({plain(reason, 120)})" if told and reason else told


def _widest(samples: Sequence[Sample]) -> float | None:
    """Seconds between two readings with a value that lie furthest apart."""
    times = [s.due_ns for s in samples if s.state == "value"]
    gaps = [(after - before) / NS for before, after in pairwise(times)]
    return max(gaps) if gaps else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
