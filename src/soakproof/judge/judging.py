"""From sealed evidence, a policy and a baseline to a verdict. Pure: no I/O, no clock, nothing is touched.

An adjudicator that raises is an ERROR finding, one that finds nothing is inconclusive: neither ever passes
and neither stops the others. The raw outcome is carried along unchanged, whatever the verdict says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from soakproof.judge.baseline import set_beside
from soakproof.judge.basis import caveats, rests_on
from soakproof.judge.evidence import Evidence, touched
from soakproof.judge.finding import WORST_FIRST, Adjudicator, Finding, Outcome, Verdict, merge
from soakproof.judge.identity import identity
from soakproof.judge.notproven import not_proven
from soakproof.judge.rawfindings import raw_findings
from soakproof.judge.reconsider import entry_findings, reconsider
from soakproof.judge.rules import Policy
from soakproof.judge.wellformed import malformed
from soakproof.lines import defined_at, file_of, raised_at
from soakproof.plain import listed, plain


def judge(
    evidence: Evidence,
    policy: Policy,
    baseline: Evidence | None = None,
    *,
    judged_at: datetime,
    versions: Mapping[str, str] | None = None,
    absent: Sequence[str] = (),
) -> Verdict:
    """The verdict on a run. ``judged_at`` decides, by its UTC date, which reconsiderations have expired;
    ``absent`` tells of runs of the baseline that could not be read.
    """
    moment = judged_at.astimezone(UTC)
    comparison, usable, about_baseline = set_beside(evidence, policy, baseline, absent)
    beside = usable or baseline
    own = {name: run_safely(name, rule.adjudicator, evidence, usable) for name, rule in policy.rules.items()}
    reconsidered = reconsider(
        policy.reconsider, evidence.raw, [f for found in own.values() for f in found], moment.date()
    )
    weighed = [_weighed(f, policy) for found in own.values() for f in found]
    functional = "functional" in policy.rules and policy.rules["functional"].critical
    findings = (
        *raw_findings(
            evidence.raw, evidence.run, reconsidered, functional=functional, recovered=evidence.recovered
        ),
        *entry_findings(reconsidered, evidence.raw),
        *_integrity(evidence, weighed),
        *_untested(evidence),
        *_undecided(weighed),
        *about_baseline,
        *weighed,
    )
    return Verdict(
        outcome=merge(f.outcome for f in findings if f.critical),
        run=evidence.id,
        policy=policy.name,
        baseline=beside.id if beside else None,
        baseline_repeats=tuple(run.id for run in usable.repeats) if usable else (),
        judged_at=moment.isoformat(timespec="seconds"),
        raw=dict(evidence.raw) if evidence.raw is not None else None,
        findings=findings,
        reconsidered=reconsidered,
        rests_on=rests_on(evidence, beside, usable),
        caveats=tuple(caveats(evidence, usable)),
        not_proven=not_proven(evidence, usable),
        identity=identity(evidence),
        changed=comparison.changed,
        versions={**(versions or {}), **policy.digests},
    )


def run_safely(
    name: str, adjudicator: Adjudicator, evidence: Evidence, baseline: Evidence | None
) -> tuple[Finding, ...]:
    """An adjudicator's findings under its name; an exception becomes one more, with its text and place.

    So does what it yields that is no finding, or one with fields that no report could show.
    """
    found: list[Finding] = []
    try:
        for finding in adjudicator.judge(evidence, baseline):
            wrong = malformed(finding)
            found.append(_no_finding(name, wrong) if wrong else replace(finding, adjudicator=name))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit as well: nothing that it raises is a verdict
        found.append(_raised(name, adjudicator, error))
    return tuple(found) or (
        _remark(
            name,
            "no findings",
            "What did it find?",
            Outcome.INCONCLUSIVE,
            "It found nothing to judge.",
            "at least one finding",
        ),
    )


def _raised(name: str, adjudicator: Adjudicator, error: BaseException) -> Finding:
    """An ERROR with the place: the last line in the adjudicator's own file, else where its `judge` begins."""
    kind = type(adjudicator)
    place = raised_at(error, file_of(kind)) or defined_at(kind.judge, file_of(kind))
    answer = f"It raised {type(error).__name__} at {place}: {plain(error, 500)}"
    return replace(_remark(name, "adjudicator", "Could it be judged?", Outcome.ERROR, answer), fault="ours")


def _no_finding(name: str, wrong: str) -> Finding:
    answer = f"It found what is no finding: {wrong}."
    return replace(_remark(name, "findings", "Are its findings whole?", Outcome.ERROR, answer), fault="ours")


def _weighed(finding: Finding, policy: Policy) -> Finding:
    """A policy can make a finding decide nothing; it cannot make a remark decide."""
    return replace(finding, critical=finding.critical and policy.rules[finding.adjudicator].critical)


def _undecided(weighed: Sequence[Finding]) -> Iterator[Finding]:
    """Remarks alone are no judgement: the run's own word is not what a policy is asked for."""
    if not any(finding.critical for finding in weighed):
        answer = "No: nothing that decides was judged; all that its adjudicators found are remarks."
        question = "Did the policy judge anything that decides?"
        yield _remark("policy", "decides", question, Outcome.INCONCLUSIVE, answer, "at least one finding")


def _untested(evidence: Evidence) -> Iterator[Finding]:
    """A verdict is on a server and a model, and says nothing where the run does not tell which."""
    target = evidence.target
    told = {
        "at which address": target.get("base_url") or target.get("embedded"),
        "which model": target.get("model_resolved") or target.get("model"),
    }
    if missing := [what for what, value in told.items() if not value]:
        answer = f"The run does not tell {' nor '.join(missing)}."
        question = "Is it known what was tested?"
        yield _remark("target", "known", question, Outcome.INCONCLUSIVE, answer, "an address and a model")


def _integrity(evidence: Evidence, said: Sequence[Finding]) -> tuple[Finding, ...]:
    """What no policy can leave out: evidence that is not what was sealed, or contradicts itself.

    ``said`` is what the policy's own adjudicators found: what they decide as gravely is not told twice.
    """
    broken = [*evidence.seal_problems, *evidence.problems]
    if evidence.recovered:
        broken.append("a part of it was sealed after a crash: what was lost at its end is unknown")
    outcome = Outcome.ERROR if touched(evidence) else Outcome.INCONCLUSIVE
    told = [
        *_refused("seal", "Is the evidence as it was sealed?", outcome, broken, "as it was sealed"),
        *_books(evidence),
    ]
    return tuple(finding for finding in told if not _is_said(finding, evidence, said))


def _is_said(finding: Finding, evidence: Evidence, said: Sequence[Finding]) -> bool:
    """Whether the adjudicator ``evidence`` tells all that this remark does, as gravely, and decides."""
    subjects = {"books"} if finding.adjudicator == "books" else set()
    if finding.adjudicator == "seal":
        subjects |= {"seal"} if evidence.seal_problems or evidence.recovered else set()
        subjects |= {"lines"} if evidence.problems else set()
    found = {
        f.subject.partition(":")[0]
        for f in said
        if f.adjudicator == "evidence" and f.critical and _is_as_grave(f.outcome, finding.outcome)
    }
    return subjects <= found


def _is_as_grave(outcome: Outcome, other: Outcome) -> bool:
    return WORST_FIRST.index(outcome) <= WORST_FIRST.index(other)


def _books(evidence: Evidence) -> Iterator[Finding]:
    question = "Does the evidence agree with itself?"
    try:
        disagreements = [f"{d.subject}: {d.told}" for d in evidence.disagreements]
    except Exception as error:
        answer = f"It could not be told: {type(error).__name__}: {plain(error, 300)}"
        yield replace(_remark("books", "evidence", question, Outcome.ERROR, answer), fault="ours")
    else:
        agreed = "what is written twice agrees"
        yield from _refused("books", question, Outcome.INCONCLUSIVE, disagreements, agreed)


def _refused(
    name: str, question: str, outcome: Outcome, problems: Sequence[str], limit: str
) -> Iterator[Finding]:
    if problems:
        answer = f"No: {listed(problems, 3, '; ')}."
        yield _remark(name, "evidence", question, outcome, answer, limit)


def _remark(
    adjudicator: str, subject: str, question: str, outcome: Outcome, answer: str, limit: str = ""
) -> Finding:
    return Finding(
        adjudicator=adjudicator,
        subject=subject,
        question=question,
        outcome=outcome,
        answer=answer,
        limit=limit,
    )
