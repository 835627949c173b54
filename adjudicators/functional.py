"""Functional checks and the outcomes of exchanges: what the server did wrong, and whose fault it is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from soakproof.judge import (
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Ratio,
    Table,
    clause,
    counted,
    fault_of,
    finding,
    ids,
    listed,
    outcome_of,
    plain,
)
from soakproof.judge.causes import Cause, Causes
from soakproof.judge.misplaced import misplaced
from soakproof.judge.placement import Placement, failed_alone
from soakproof.judge.promptsizes import told_sizes
from soakproof.judge.repeats import runs_of
from soakproof.judge.slipped import contradicted
from soakproof.judge.victims import Burst, bursts, told_elsewhere
from soakproof.judge.waiting import UNANSWERED
from soakproof.records import Check, Exchange, Failure

MOST_CAUSES = 3
SLIP = "slip"
SLIPS = 2  # prompts at which the model itself slips, in a run of whatever length


@dataclass(frozen=True)
class Functional(Adjudicator):
    """Did every check of every kind hold, and did every exchange succeed?

    ``unknown`` is the share of outcomes that may be unknown. What the end of the run cut off is not among
    them: of checks it is told, of exchanges at most ``stopped`` are taken for it. Exchanges of the kinds in
    ``may_fail`` are asked in order to fail: their checks judge them. ``slips`` is the share of a check that
    may be the model's own slips (nearly right, and the same again when it was computed anew), each prompt
    counted once: those are unknown, and where there are more, and more than two, they fail. They decide where
    such a prompt was answered otherwise, in the run or its baseline.
    """

    unknown: Ratio = Ratio(0.05)
    stopped: int = 8
    slips: Ratio = Ratio(0.01)
    may_fail: tuple[str, ...] = ()
    ranges = Ranges(unknown=(0, 1), slips=(0, 1), stopped=(0, 10_000))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield from self._checks(evidence)
        yield from self._slips(evidence, baseline)
        yield from self._exchanges(evidence)
        yield from self._broken(evidence)

    def _checks(self, evidence: Evidence) -> Iterable[Finding]:
        """One finding a check; a check that several kinds share is named with its kind."""
        found = _by_check(evidence)
        shared = Counter(name for _, name in found)
        iterations = evidence.iteration_table
        stopped = iterations.where(iterations["end"] == "stopped").records
        cut = {(i.node, i.scenario, i.number) for i in stopped}
        placement = Placement(evidence)
        slipped = _prompts(evidence)
        if not found:
            answer, limit = "No check was declared or made.", "at least one check"
            yield finding(self, "checks", Outcome.INCONCLUSIVE, answer, limit=limit)
        for (kind, name), checks in found.items():
            subject = name if shared[name] == 1 else f"{kind}: {name}"
            made = self._check(subject, checks, cut, slipped)
            failed = failed_alone(checks.where(checks["outcome"] == "fail").records)
            yield replace(made, strength=placement.told(failed) or made.strength)

    def _check(
        self,
        subject: str,
        checks: Table[Check],
        cut: Set[tuple[str, str, int]],
        slipped: Mapping[str, str],
    ) -> Finding:
        """A check's finding; ``slipped`` has the prompts of slips: one that is asked again slips again."""
        by_outcome = _by_outcome(checks, cut)
        failed, unknown, known = (by_outcome[end].records for end in ("fail", "unknown", "known"))
        slips = [c for c in unknown if c.grade == SLIP]
        prompts = {slipped.get(id, id) for slip in slips for id in slip.exchanges}
        if not failed and len(prompts) > self._allowed(checks):
            failed = tuple(slips)
        if failed:
            answer, outcome = f"Failed in {len(failed)} of {len(checks)}; {_first(failed)}.", Outcome.FAIL
        elif not by_outcome["pass"] and not known:
            undecided = unknown or by_outcome["cut"].records
            why = f"; {_first(undecided)}" if undecided else ""
            answer, outcome = f"Never decided: unknown in {len(undecided)}{why}.", Outcome.INCONCLUSIVE
        elif len(unknown) > self.unknown * (len(checks) - len(by_outcome["cut"])):
            answer = f"Unknown in {len(unknown)} of {len(checks)}; {_first(unknown)}."
            outcome = Outcome.INCONCLUSIVE
        else:
            answer, outcome = _held(by_outcome, len(checks)), Outcome.PASS
        return finding(
            self,
            subject,
            outcome,
            answer,
            figures=(*_counts(by_outcome, len(checks)), *_grades(checks)),
            limit=f"no failure, and at most {self.unknown:.0%} unknown"
            + (f", slips to {self._allowed(checks):.0f} prompts" if slips else ""),
            limit_source="policy",
            exchanges=ids(id for c in failed or unknown or known for id in c.exchanges),
            strength="" if by_outcome["pass"] or not known else "only the known limit was seen",
        )

    def _allowed(self, checks: Table[Check]) -> float:
        """To how many prompts a check may have slips."""
        return max(SLIPS, self.slips * len(checks)) if self.slips else 0

    def _slips(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        """The model's own slips are told, also where they decide nothing: a fault may look like one.

        They decide where this run or the baseline answered such a prompt otherwise.
        """
        table = evidence.check_table
        slips = table.where(table["grade"] == SLIP).records
        if not slips:
            return
        doubted = contradicted(slips, [evidence, *runs_of(baseline)])
        answer = (
            f"{counted(len(doubted), 'answer')} nearly right, and the same again when computed anew; but the "
            f"same prompt was answered otherwise in this run or the baseline: {_first(doubted)}."
            if doubted
            else f"{counted(len(slips), 'answer')} nearly right, and the same again when computed anew: the "
            f"model's own slips, as it seems; {_first(slips)}."
        )
        yield finding(
            self,
            "slips",
            Outcome.INCONCLUSIVE,
            answer,
            figures=(
                Figure(name="slips", value=len(slips), n=len(table)),
                Figure(name="answered otherwise elsewhere", value=len(doubted), n=len(slips)),
            ),
            limit=f"at most {SLIPS} prompts of a check, or {self.slips:.0%}",
            limit_source="policy",
            exchanges=ids(id for c in doubted or slips for id in c.exchanges),
            critical=bool(doubted),
            fault="" if doubted else "model",
        )

    def _exchanges(self, evidence: Evidence) -> Iterable[Finding]:
        """One finding a failure class, with the cause that was seen, or one that none failed.

        Of what was never answered the sizes of the prompts are told: servers have hung at one length alone.
        """
        judged = evidence.exchange_table
        judged = judged.where(~np.isin(judged["scenario"], np.array(self.may_fail, object)))
        moved = misplaced(judged)
        elsewhere = {e.id for e in moved}
        if moved:
            yield self._misplaced(moved, len(judged))
        failed: dict[Failure | None, list[Exchange]] = {}
        for exchange in judged.where(judged["outcome"] == "fail").records:
            if exchange.id not in elsewhere:
                failed.setdefault(exchange.failure, []).append(exchange)
        of_all = [e for group in failed.values() for e in group]
        of = Causes(evidence).of
        causes = {e.id: of(e) for e in of_all}
        many, placement = bursts(of_all, causes), Placement(evidence)
        for number, burst in enumerate(many, 1):
            yield self._victims(number, burst, len(judged))
        for failure, group in failed.items():
            sizes = f"; {told_sizes(evidence, group)}" if failure in UNANSWERED else ""
            found = self._failed(failure, group, len(judged), [causes[e.id] for e in group], sizes)
            more = _ELSEWHERE if told_elsewhere(group, many) else {"strength": placement.told(group)}
            yield replace(found, **more)
        summary = self._unknown(evidence, judged)
        if not (failed or moved) or summary.outcome is not Outcome.PASS:
            yield summary

    def _misplaced(self, moved: Sequence[Exchange], n: int) -> Finding:
        """Answers in the field for reasoning: no fault of the model's, which does not reason."""
        first = moved[0]
        return finding(
            self,
            "misplaced",
            Outcome.FAIL,
            f"{counted(len(moved), 'answer')} of {n} came as reasoning, with no content, where the others of "
            "their kind came as content and none was reasoned about: the text was moved on the way; first: "
            f"{first.scenario} {first.iteration} {first.role}: {plain(first.reasoning, 60)!r}.",
            figures=(Figure(name="misplaced", value=len(moved), n=n),),
            limit="none",
            exchanges=ids(moved),
            strength="exact, by a secret of its own",
            fault="front",
        )

    def _victims(self, number: int, burst: Burst, n: int) -> Finding:
        """One cause and all that failed of it, in whatever class."""
        host = burst.cause.host
        return finding(
            self,
            f"victims {number}",
            Outcome.INCONCLUSIVE if host else Outcome.FAIL,
            f"One cause, {counted(len(burst.victims), 'victim')}: {burst.told}.",
            figures=tuple(Figure(name=failure, value=many, n=n) for failure, many in burst.classes.items()),
            limit="none fails",
            limit_source="policy",
            exchanges=ids(burst.victims),
            span=burst.span,
            strength="what happened at the same time is likely the cause; it is no proof",
            fault="host" if host else "server",
        )

    def _unknown(self, evidence: Evidence, judged: Table[Exchange]) -> Finding:
        """Whether enough exchanges came to an outcome."""
        ok = int((judged["outcome"] == "ok").sum())
        unknown = judged.where(judged["outcome"] == "unknown").records
        cut = [e for e in unknown if e.failure is Failure.STOPPED]
        lost = [o for o in evidence.unclosed if o.scenario not in self.may_fail]
        sent, others = len(judged) + len(lost), len(unknown) - len(cut) + len(lost)
        too_many = others > self.unknown * sent or len(cut) > self.stopped
        return finding(
            self,
            "exchanges",
            Outcome.PASS if ok and not too_many else Outcome.INCONCLUSIVE,
            f"Of {counted(sent, 'exchange')} {ok} succeeded, {len(judged) - ok - len(unknown)} failed, "
            f"{len(cut)} were cut off by the end of the run, {others} are unknown.",
            figures=(
                Figure(name="succeeded", value=ok, n=sent),
                Figure(name="cut off", value=len(cut), n=sent),
                Figure(name="unknown", value=others, n=sent),
            ),
            limit=f"at most {self.stopped} cut off and {self.unknown:.0%} unknown",
            limit_source="policy",
            exchanges=ids([*unknown, *lost]),
        )

    def _failed(
        self,
        failure: Failure | None,
        group: Sequence[Exchange],
        n: int,
        causes: Sequence[Cause | None],
        sizes: str,
    ) -> Finding:
        """A fault of our own says nothing about the server: it is an error of the run.

        Nor does what another program did to the host: if that is behind each, nobody is convicted.
        """
        fault: str = fault_of(failure)
        if all(cause is not None and cause.host for cause in causes):
            fault = "host"
        first = group[0]
        where = f"{first.scenario} {first.iteration} {first.role}"
        return finding(
            self,
            f"exchanges: {failure or 'unclassified'}",
            _AGAINST.get(fault, Outcome.FAIL),
            f"{counted(len(group), 'exchange')} of {n} failed; "
            f"first: {where}: {clause(first.reason) or 'no reason told'}{sizes}{_seen(causes)}.",
            figures=(Figure(name="failed", value=len(group), n=n),),
            limit="none fails",
            limit_source="policy",
            exchanges=ids(group),
            fault=fault,
        )

    def _broken(self, evidence: Evidence) -> Iterable[Finding]:
        table = evidence.iteration_table
        broken = table.where(table["end"] == "broken").records
        if broken:
            first = broken[0]
            yield finding(
                self,
                "scenarios",
                Outcome.ERROR,
                f"{counted(len(broken), 'iteration')} ended by a fault of the scenario itself; first: "
                f"{first.scenario} {first.number}: {clause(first.reason)}.",
                figures=(Figure(name="broken", value=len(broken), n=len(table)),),
                limit="none",
                fault="ours",
            )


_ELSEWHERE: Mapping[str, Any] = {
    "critical": False,
    "strength": "each is a victim of a cause that is told above",
}
_AGAINST: Mapping[str, Outcome] = {"ours": Outcome.ERROR, "host": Outcome.INCONCLUSIVE}  # else FAIL
_NAMES = {
    "pass": "passed",
    "fail": "failed",
    "unknown": "unknown",
    "known": "known limit",
    "cut": "cut off by the end of the run",
}


def _seen(causes: Sequence[Cause | None]) -> str:
    """How many failures had which cause, in words; empty where none was seen."""
    found = Counter(cause.told for cause in causes if cause)
    told = listed([f"{n} {cause}" for cause, n in found.most_common()], MOST_CAUSES, "; ", limit=300)
    return f". Of them {told}" if told else ""


def _by_check(evidence: Evidence) -> dict[tuple[str, str], Table[Check]]:
    """The checks of each kind and name, those that the plan declares first."""
    table = evidence.check_table
    found: dict[tuple[str, str], list[int]] = {
        (str(kind.get("name", "")), str(name)): []
        for kind in evidence.plan.get("kinds") or ()
        for name in kind.get("checks") or ()
    }
    for place, of in enumerate(zip(table["scenario"].tolist(), table["name"].tolist(), strict=True)):
        found.setdefault(of, []).append(place)
    return {of: table.take(np.array(places, np.int64)) for of, places in found.items()}


def _ends(checks: Table[Check]) -> list[str]:
    """`check_outcome` of each."""
    outcomes, grades = checks["outcome"].tolist(), checks["grade"].tolist()
    return list(map(outcome_of, outcomes, grades))


def _by_outcome(checks: Table[Check], cut: Set[tuple[str, str, int]]) -> dict[str, Table[Check]]:
    ends = np.array(_ends(checks), object)
    unknown = checks.where(ends == "unknown").records
    ends[ends == "unknown"] = [
        "cut" if (c.node, c.scenario, c.iteration) in cut else "unknown" for c in unknown
    ]
    return {end: checks.where(ends == end) for end in _NAMES}


def _counts(by_outcome: Mapping[str, Table[Check]], n: int) -> list[Figure]:
    return [
        Figure(name=_NAMES[end], value=len(there), n=n)
        for end, there in by_outcome.items()
        if len(there) or end == "pass"
    ]


def _grades(checks: Table[Check]) -> list[Figure]:
    """How often each grade was given, by the outcome that it was given for."""
    given = Counter(zip(_ends(checks), checks["grade"].tolist(), strict=True))
    grades: Counter[tuple[str, str]] = Counter()
    for (outcome, grade), n in given.items():
        if grade:
            grades[outcome, plain(grade, 60)] += n
    return [
        Figure(name=f"{outcome}: {grade}", value=n, n=len(checks))
        for (outcome, grade), n in sorted(grades.items())
    ]


def _prompts(evidence: Evidence) -> dict[str, str]:
    """The prompts that slips answered, by the exchanges' ids."""
    table = evidence.check_table
    slips = {id for ids in table["exchanges"][table["grade"] == SLIP].tolist() for id in ids}
    return {id: evidence.by_id[id].prompt_digest for id in slips if id in evidence.by_id}


def _held(by_outcome: Mapping[str, Table[Check]], n: int) -> str:
    passed = len(by_outcome["pass"])
    told = f"Held in {passed} of {n}" if passed else "Met a known limit each time"
    counts = {end: len(by_outcome[end]) for end in ("unknown", "cut")}
    others = [f"{_NAMES[end]}: {many}" for end, many in counts.items() if many]
    if known := by_outcome["known"].records:
        others.append(f"known limit: {len(known)}, {_first(known)}")
    return f"{'; '.join([told, *others])}."


def _first(checks: Sequence[Check]) -> str:
    return f"first: {_told(checks[0])}"


def _told(check: Check) -> str:
    """Where, which grade and why, on one line."""
    parts = (f"{check.scenario} {check.iteration}", check.grade, check.reason)
    return clause(": ".join(part for part in parts if part), 300)
