"""How much of what was planned really happened, and how much of it the watch saw."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge import (
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Ratio,
    Readings,
    Seconds,
    clause,
    counted,
    finding,
    how_ended,
    listed,
    number,
)
from soakproof.judge.basis import plan_duration
from soakproof.judge.telling import length
from soakproof.judge.watched import KNOWN_SHARE, absence, ending, interval_s, seen_of, seen_sources

ON_CHANGE = ("kernel_log",)  # sources that write a sample at the start and on change only
ASIDE = (
    "cpu",
    "thermal",
    "cgroup",
    "gpu_memory",
    "metrics",
)  # they explain, and no verdict rests on them alone
SOURCES_SHOWN = 8  # of those that were not seen
DEALS = ("cache.deals", "prefix.deals")  # counts of an iteration: registers until one was cold
KINDS_SHOWN = 10  # of those left out

_ALL_THE_TIME = "It was there all the time."


@dataclass(frozen=True)
class Coverage(Adjudicator):
    """Did the run do what its plan says, and did the watch see enough of it?

    ``decks`` is how often each kind's count of the mix must have been completed; one iteration of each kind
    is wanted in any case. ``least`` is how long a load must last to say anything, whatever was asked for.
    ``samples`` is the share of the watch's ticks, and of the readings of each source
    that it could see at all, that must be there. ``required`` adds sources that it must have been able to
    see; a name also stands for those that it begins: ``process:backend`` for ``process:backend-2``.
    ``all_kinds``: kinds of the plan that the run left out, by --tags or by the plan's own [short], decide;
    else they are told alone, for whoever leaves them out means to. ``whole``: the plan's own duration is
    asked for as well, where -t or the web UI asked for less. Sources that only explain (processor,
    temperatures, control groups, GPU memory of processes) are told and decide nothing unless they are named
    there.
    """

    decks: int = 1
    duration: Ratio = Ratio(0.95)
    least: Seconds = Seconds(0)
    samples: Ratio = Ratio(KNOWN_SHARE)
    required: tuple[str, ...] = ("memory", "slots", "process:backend")
    all_kinds: bool = False
    whole: bool = False
    ranges = Ranges(decks=(0, 10_000), duration=(0, 1), least=(0, 366 * 86400), samples=(0, 1))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._duration(evidence)
        yield from self._kinds(evidence)
        yield from self._left_out(evidence)
        yield from self._held_before(evidence)
        yield self._watch(evidence)
        seen = seen_sources(evidence)
        for name in seen:
            yield self._on_change(evidence, name) if name in ON_CHANGE else self._source(evidence, name)
        for name in self.required:
            if not any(_is_of(source, name) for source in seen):
                yield self._never(evidence, name)
        yield from self._blind(evidence)

    def _duration(self, evidence: Evidence) -> Finding:
        """Until the load was stopped: what was drained after that makes up for nothing."""
        asked, lasted = evidence.plan.get("duration_s"), evidence.duration
        own = plan_duration(evidence) if self.whole else None
        due = asked if asked is None or own is None else max(asked, own)
        ended = how_ended(evidence.run.get("ended"))
        how = f"; {ended}" if ended else ""
        if lasted is None or due is None:
            outcome, answer = Outcome.INCONCLUSIVE, f"How long the load lasted is not known{how}."
        else:
            outcome = _enough(lasted >= max(self.duration * due, self.least))
            of = f", of the plan's own {due:.0f} s" if due != asked else ""
            short = f"; less than {length(self.least)} says too little" if lasted < self.least else ""
            answer = f"The load lasted {lasted:.1f} s where {asked:.0f} s were asked for{of}{how}{short}."
        return finding(
            self,
            "duration",
            outcome,
            answer,
            figures=(Figure(name="duration", value=lasted, unit="s"),),
            limit=(f"{self.duration:.0%} of {due:g} s" if due else "as long as planned")
            + (f", and {length(self.least)}" if self.least else ""),
            limit_source="policy, plan",
        )

    def _kinds(self, evidence: Evidence) -> Iterable[Finding]:
        kinds = [k for k in evidence.plan.get("kinds") or () if k.get("count")]
        if not kinds:
            answer, limit = "The plan's kinds are not known.", "kinds that the plan names"
            yield finding(self, "kinds", Outcome.INCONCLUSIVE, answer, limit=limit)
        iterations = evidence.iteration_table
        ended: dict[str, Counter[str]] = defaultdict(Counter)
        for name, end in zip(iterations["scenario"].tolist(), iterations["end"].tolist(), strict=True):
            ended[name][end] += 1
        for kind in kinds:
            yield self._kind(str(kind["name"]), int(kind["count"]), ended[str(kind["name"])])
        if len(kinds) > 1:
            nodes = len(set(iterations["node"].tolist()))
            yield self._mix({str(k["name"]): int(k["count"]) for k in kinds}, ended, max(1, nodes))

    def _left_out(self, evidence: Evidence) -> Iterable[Finding]:
        """Kinds of the plan that were not asked at all."""
        missing = evidence.left_out
        n = len(missing) + len(evidence.plan.get("kinds") or ())
        if missing:
            yield finding(
                self,
                "kinds left out",
                Outcome.INCONCLUSIVE,
                f"{len(missing)} of the plan's {counted(n, 'kind')} were not asked, by --tags or its own "
                f"[short], so nothing is said of them: {listed(missing, KINDS_SHOWN)}.",
                figures=(Figure(name="left out", value=len(missing), n=n),),
                limit="every kind of the plan",
                limit_source="plan",
                critical=self.all_kinds,
            )

    def _held_before(self, evidence: Evidence) -> Iterable[Finding]:
        """Prompts meant to be cold that the server held: those of the same seed, asked in an earlier run."""
        counts = evidence.iteration_table["counts"].tolist()
        dealt = [max(of.get(name, 0) for name in DEALS) for of in counts]
        counted_in = [deals for deals in dealt if deals]
        held = sum(deals > 1 for deals in counted_in)
        if held:
            yield finding(
                self,
                "cold prompts",
                Outcome.INCONCLUSIVE,
                f"In {held} of {counted(len(counted_in), 'iteration')} the server said that it held the "
                "first prompt, so that another was dealt: as after an earlier run with the same seed. Kinds "
                "that deal none anew may have been restored, and their times to the first token are "
                "flattered; load the model anew, or give another --seed.",
                figures=(Figure(name="dealt anew", value=held, n=len(counted_in)),),
                limit="none held",
                critical=False,
            )

    def _kind(self, name: str, count: int, ends: Counter[str]) -> Finding:
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

    def _mix(self, counts: Mapping[str, int], ended: Mapping[str, Counter[str]], nodes: int) -> Finding:
        """Each load node deals decks of its own, so each may be within one deck it has begun."""
        dealt = {name: ended[name].total() for name in counts}
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
        problem, ended = absence(evidence, self.samples), ending(evidence)
        details = ended.details if ended else {}
        return finding(
            self,
            "watch",
            _enough(not problem),
            f"The watch did not see all of the run: {problem}." if problem else "It was there all the time.",
            figures=tuple(
                Figure(name=name, value=number(details.get(name)), unit=unit)
                for name, unit in (("ticks_due", ""), ("ticks_missed", ""), ("late_max_ms", "ms"))
            ),
            limit=f"from the load's start to its end, {self.samples:.0%} of its ticks",
            limit_source="policy",
        )

    def _source(self, evidence: Evidence, name: str) -> Finding:
        """Whether a source that can be seen had a value often enough while the load ran."""
        found = seen_of(evidence, name)
        without = _without([found.samples])
        return finding(
            self,
            f"source {name}",
            _enough(found.enough(self.samples)),
            f"{found.good} readings with a value of {found.due_told} due{f'; {without}' if without else ''}.",
            figures=(
                Figure(name="readings", value=found.good, n=found.due),
                Figure(name="widest gap", value=found.widest_s, unit="s", n=found.good),
            ),
            limit=f"{self.samples:.0%} of one each {interval_s(evidence, name):g} s",
            limit_source="policy, plan",
            critical=not _is_any_of(name, ASIDE) or _is_any_of(name, self.required),
        )

    def _never(self, evidence: Evidence, name: str) -> Finding:
        """A required source that nothing was seen of."""
        without = _without(_named(evidence, name)) or "it was never sampled"
        return finding(
            self,
            f"source {name}",
            Outcome.INCONCLUSIVE,
            f"It had no value in the whole run: {without}.",
            limit="it must be there",
            limit_source="policy",
        )

    def _on_change(self, evidence: Evidence, name: str) -> Finding:
        """Whether a source, which tells its state only when that changes, was there all the time."""
        bad = evidence.samples[name].without_value()
        return finding(
            self,
            f"source {name}",
            _enough(not len(bad)),
            f"It was not there all the time: {_without([bad])}."
            if len(bad)
            else "It was there all the time.",
            limit="all the time",
            limit_source="policy",
        )

    def _blind(self, evidence: Evidence) -> Iterable[Finding]:
        """Sources that said nothing at all for a reason: told, and not what decides."""
        alike: dict[str, list[str]] = {}
        for source, readings in sorted(evidence.samples.items()):
            if not readings.has_value.any():
                alike.setdefault(_without([readings]), []).append(source)
        if alike:
            told = [f"{', '.join(sources)}: {why}" for why, sources in alike.items()]
            answer = f"Not seen in this run: {listed(told, SOURCES_SHOWN, '; ', limit=300)}."
            yield finding(
                self,
                "blind sources",
                Outcome.INCONCLUSIVE,
                answer,
                limit="a value from each",
                critical=False,
            )


def _enough(is_enough: bool) -> Outcome:
    return Outcome.PASS if is_enough else Outcome.INCONCLUSIVE


def _is_of(source: str, name: str) -> bool:
    """Whether a policy's name stands for a source: it is it, or begins it."""
    return source == name or source.startswith((f"{name}:", f"{name}-"))


def _is_any_of(source: str, names: Iterable[str]) -> bool:
    return any(_is_of(source, name) for name in names)


def _named(evidence: Evidence, name: str) -> list[Readings]:
    """The sources that a policy's name stands for."""
    return [told for source, told in evidence.samples.items() if _is_of(source, name)]


def _without(sources: Sequence[Readings]) -> str:
    """How often there was no value, by state, with the first reason."""
    bad = [told.without_value() for told in sources]
    states = sum((told.states() for told in bad), Counter())
    reason = next(filter(None, (told.reason() for told in bad)), "")
    told = ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
    return f"{told} ({clause(reason, 120)})" if told and reason else told
