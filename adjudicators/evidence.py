"""Whether the evidence is whole and untouched: seals, torn lines, open ends, gaps, and whether books agree.

Evidence that was changed after sealing is an ERROR: nothing can be judged from it. Evidence that is merely
incomplete (never sealed, recovered after a crash, with gaps) is INCONCLUSIVE: it may show faults, and it
cannot show that there were none.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    counted,
    finding,
    ids,
    listed,
    plain,
)
from soakproof.judge.books import SUBJECTS, Disagreement
from soakproof.judge.evidence import last_seen, touched, unsealed
from soakproof.records import Event

SHOWN = 3


@dataclass(frozen=True)
class Whole(Adjudicator):
    """Is the evidence complete, and exactly as it was sealed?

    ``nodes`` are those that must have left evidence; ``load`` also stands for ``load-1``.
    """

    nodes: tuple[str, ...] = ("load", "watch")

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._seal(evidence)
        yield self._lines(evidence)
        yield self._nodes(evidence)
        yield self._ends(evidence)
        yield self._kernel_log(evidence)
        yield self._totals(evidence)
        yield from self._books(evidence)
        yield from self._clock(evidence)

    def _seal(self, evidence: Evidence) -> Finding:
        state = evidence.run.get("state")
        if changed := touched(evidence):
            answer = f"Not as it was sealed: {_some(changed)}."
            return finding(self, "seal", Outcome.ERROR, answer, limit="unchanged since it was sealed")
        if missing := unsealed(evidence):
            problem = f"never sealed: {_some(missing)}"
        elif evidence.host_lost:
            problem = "of a run that ended by the loss of its host, which was restarted since"
        elif evidence.recovered:
            problem = "sealed only after a crash, by `soakproof recover`"
        elif state not in (None, "ended"):
            problem = f"from a run that never ended (its state is {plain(state, 40)})"
        else:
            return finding(self, "seal", Outcome.PASS, "Sealed by the run itself, and unchanged since.")
        last = last_seen(evidence)
        until = "it holds no record" if last is None else f"its last record is of {last:.1f} s of the run"
        answer = f"The evidence is {problem}; {until}."
        fault = "host" if evidence.host_lost else "ours"
        limit = "sealed by the run itself"
        return finding(self, "seal", Outcome.INCONCLUSIVE, answer, limit=limit, fault=fault)

    def _lines(self, evidence: Evidence) -> Finding:
        problems = evidence.problems
        return finding(
            self,
            "lines",
            Outcome.INCONCLUSIVE if problems else Outcome.PASS,
            f"{counted(len(problems), 'line')} cannot be read: {_some(problems)}."
            if problems
            else f"All {counted(evidence.lines, 'line')} can be read.",
            figures=(Figure(name="unreadable", value=len(problems)),),
            limit="none that cannot be read",
        )

    def _nodes(self, evidence: Evidence) -> Finding:
        missing = [
            wanted
            for wanted in self.nodes
            if not any(node == wanted or node.startswith(f"{wanted}-") for node in evidence.nodes)
        ]
        return finding(
            self,
            "nodes",
            Outcome.INCONCLUSIVE if missing else Outcome.PASS,
            f"No evidence of {', '.join(missing)}."
            if missing
            else f"All are there: {', '.join(self.nodes)}.",
            limit=", ".join(self.nodes),
            limit_source="policy",
        )

    def _ends(self, evidence: Evidence) -> Finding:
        """Every request that was opened was closed, once, and none was closed that was never opened."""
        known = set(evidence.opened_table["id"].tolist())
        closed = evidence.exchange_table["id"].tolist()
        never_opened = [id for id in closed if id not in known]
        times = Counter(closed)
        twice = sorted(id for id, n in times.items() if n > 1)
        problems = [
            f"{n} {what}"
            for n, what in (
                (len(evidence.unclosed), "never closed"),
                (len(never_opened), "never opened"),
                (len(twice), "closed more than once"),
            )
            if n
        ]
        return finding(
            self,
            "exchanges",
            Outcome.INCONCLUSIVE if problems or not known else Outcome.PASS,
            f"Of {counted(len(known), 'request')}: {', '.join(problems) or 'each opened and closed once'}."
            if known or problems
            else "No request was sent.",
            figures=(
                Figure(name="opened", value=len(known)),
                Figure(name="closed", value=len(times)),
            ),
            limit="each opened and closed once",
            exchanges=ids([*evidence.unclosed, *never_opened, *twice]),
            fault="ours" if problems else "",
        )

    def _kernel_log(self, evidence: Evidence) -> Finding:
        """Lost records are a gap in the evidence. Whether it must be seen at all, coverage decides."""
        gaps = [k for k in evidence.kernel if k.gap]
        lost = sum(k.gap for k in gaps)
        seen = evidence.kernel or evidence.saw("kernel_log")
        if gaps:
            answer = f"{counted(lost, 'record')} of the kernel log were lost in {counted(len(gaps), 'gap')}."
        else:
            answer = "It has no gap." if seen else "The kernel log was not seen."
        return finding(
            self,
            "kernel log",
            Outcome.PASS if seen and not gaps else Outcome.INCONCLUSIVE,
            answer,
            figures=(Figure(name="lost", value=lost if seen else None, n=len(evidence.kernel)),),
            limit="seen, and no record lost",
            critical=bool(gaps),
        )

    def _clock(self, evidence: Evidence) -> Iterable[Finding]:
        """Steps of the wall clock. No duration is of that clock; the times in other programs' logs are."""
        steps = [e for e in evidence.events if e.what == "clock_step"]
        if steps:
            yield finding(
                self,
                "clock",
                Outcome.PASS,
                f"The wall clock stepped {counted(len(steps), 'time')}: {_some([_step(e) for e in steps])}. "
                "Every duration here is of a monotonic clock; times in other logs must be set beside it.",
                figures=(Figure(name="steps", value=len(steps)),),
                span=(steps[0].t_ns / NS, steps[-1].t_ns / NS),
                critical=False,
                fault="host",
            )

    def _totals(self, evidence: Evidence) -> Finding:
        """Locust counts every exchange of the load nodes, unless somebody resets its numbers."""
        told = evidence.run.get("locust") or {}
        nodes, outcomes = (evidence.exchange_table[name].tolist() for name in ("node", "outcome"))
        load = [end for node, end in zip(nodes, outcomes, strict=True) if node.startswith("load")]
        ours = {"requests": len(load), "failures": load.count("fail")}
        theirs = {name: told.get(name) for name in ours}
        reset = any(e.what == "stats_reset" for e in evidence.events)
        figures = tuple(
            Figure(name=name, value=n, baseline=theirs[name], note="Locust's number is the baseline")
            for name, n in ours.items()
        )
        if None in theirs.values():
            answer = f"Locust's own count is not known; the evidence has {_counts(ours)}."
            return self._counted(Outcome.INCONCLUSIVE, answer, figures, critical=False)
        if theirs == ours:
            answer, outcome = f"Locust counted the same {_counts(ours)} as the evidence.", Outcome.PASS
        elif reset:
            answer = f"Locust counted {_counts(theirs)} after its numbers were reset; the evidence has "
            answer, outcome = f"{answer}{_counts(ours)}.", Outcome.PASS
        else:
            answer = f"Locust counted {_counts(theirs)}, the evidence has {_counts(ours)}: "
            answer, outcome = f"{answer}one of the books is wrong.", Outcome.INCONCLUSIVE
        return self._counted(outcome, answer, figures)

    def _counted(
        self, outcome: Outcome, answer: str, figures: tuple[Figure, ...], *, critical: bool = True
    ) -> Finding:
        return finding(
            self, "totals", outcome, answer, figures=figures, limit="the same counts", critical=critical
        )

    def _books(self, evidence: Evidence) -> Iterable[Finding]:
        """What was written in one place against what was written of the same in another."""
        by_subject: dict[str, list[Disagreement]] = {}
        for disagreement in evidence.disagreements:
            by_subject.setdefault(disagreement.subject, []).append(disagreement)
        if not by_subject:
            answer = f"The books agree: {', '.join(SUBJECTS)}."
            yield finding(self, "books", Outcome.PASS, answer)
        for subject, found in by_subject.items():
            yield finding(
                self,
                f"books: {subject}",
                Outcome.INCONCLUSIVE,
                f"The books do not agree: {_some([d.told for d in found])}.",
                limit="what is written twice agrees",
                exchanges=ids(id for d in found for id in d.exchanges),
            )


def _step(event: Event) -> str:
    """A step of the wall clock, in words."""
    step = event.details.get("step_s")
    told = f"{step:+.3f} s" if isinstance(step, (int, float)) else "an unknown time"
    return f"{told} at {event.t_ns / NS:.1f} s"


def _counts(counts: Mapping[str, Any]) -> str:
    return f"{plain(counts['requests'], 20)} requests, {plain(counts['failures'], 20)} failed"


def _some(problems: Sequence[str]) -> str:
    return listed(problems, SHOWN, "; ")
