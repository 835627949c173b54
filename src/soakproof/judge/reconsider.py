"""Which raw threshold failures a policy overrules, and what becomes of every entry that overrules none.

An entry applies only if the threshold failed, the entry has not expired, and every adjudicator that it
requires passed; where one of those could not be judged, the failure is neither overruled nor decides. An
entry touches nothing but that one raw threshold: no check, no fault, no missing evidence.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from soakproof.judge.finding import Finding, Outcome, Reconsidered, merge
from soakproof.judge.rawfindings import thresholds
from soakproof.judge.rules import Reconsider
from soakproof.thresholds import is_measurement

ADJUDICATOR = "reconsider"
_KEPT = "the threshold was kept"


def reconsider(
    entries: Iterable[Reconsider], raw: Mapping[str, Any] | None, findings: Sequence[Finding], today: date
) -> tuple[Reconsidered, ...]:
    """What became of each entry; ``findings`` are the adjudicators' own, before a policy weighs them."""
    return tuple(_weigh(entry, raw, findings, today) for entry in entries)


def _weigh(
    entry: Reconsider, raw: Mapping[str, Any] | None, findings: Sequence[Finding], today: date
) -> Reconsidered:
    why_not = _not_needed(entry, raw) or _expired(entry, today)
    outcome = Outcome.FAIL
    if not why_not:
        outcome, why_not = _earned(entry, findings)
    return Reconsidered(
        threshold=entry.threshold,
        applied=not why_not,
        reason=entry.reason,
        who=entry.who,
        expires=entry.expires.isoformat(),
        requires=entry.requires,
        why_not=why_not,
        undecided=outcome is Outcome.INCONCLUSIVE,
    )


def _not_needed(entry: Reconsider, raw: Mapping[str, Any] | None) -> str:
    named = [t for t in thresholds(raw) if str(t.get("name")) == entry.threshold]
    if not named:
        checks = (raw or {}).get("checks")
        is_check = isinstance(checks, Mapping) and entry.threshold in checks
        return (
            "it names a check, which is never reconsidered"
            if is_check
            else "the run has no threshold of this name"
        )
    if not all(is_measurement(str(threshold.get("that"))) for threshold in named):
        return "it counts checks, failures or other outcomes, which are never reconsidered"
    outcome = named[0].get("outcome")
    if outcome == "pass":
        return _KEPT
    return (
        ""
        if outcome == "fail"
        else "the threshold could not be judged, and missing evidence is never reconsidered"
    )


def _expired(entry: Reconsider, today: date) -> str:
    return f"the entry expired on {entry.expires.isoformat()}" if today > entry.expires else ""


def _earned(entry: Reconsider, findings: Sequence[Finding]) -> tuple[Outcome, str]:
    """What the required adjudicators came to together, and the first reason why that is no PASS."""
    came_to = {name: _came_to(name, findings) for name in entry.requires}
    together = merge(came_to.values())
    worst = next((name for name, outcome in came_to.items() if outcome is together), "")
    return together, "" if together is Outcome.PASS else f"{worst}, which it requires, is {together}"


def _came_to(name: str, findings: Sequence[Finding]) -> Outcome:
    return merge(f.outcome for f in findings if f.adjudicator == name and _counts(f))


def _counts(finding: Finding) -> bool:
    """A remark that could not be judged does not stand against an entry; a failure does, critical or not."""
    return finding.critical or finding.outcome in (Outcome.FAIL, Outcome.ERROR)


def entry_findings(results: Iterable[Reconsidered], raw: Mapping[str, Any] | None) -> tuple[Finding, ...]:
    """Each entry as a finding: one that was needed and does not apply decides; the others are told."""
    failed = {str(t.get("name")) for t in thresholds(raw) if t.get("outcome") != "pass"}
    return tuple(_finding(result, needed=result.threshold in failed) for result in results)


def _finding(result: Reconsidered, *, needed: bool) -> Finding:
    passed = result.applied or result.why_not == _KEPT
    return Finding(
        adjudicator=ADJUDICATOR,
        subject=result.threshold,
        question=f"Does the policy overrule the raw threshold {result.threshold}?",
        outcome=Outcome.PASS if passed else Outcome.INCONCLUSIVE,
        answer=_granted(result) if result.applied else f"No: {result.why_not}.",
        limit=f"until {result.expires}, while {', '.join(result.requires)} pass",
        limit_source="policy",
        critical=needed and not result.applied,
    )


def _granted(result: Reconsidered) -> str:
    instead = ", ".join(result.requires)
    return (
        f"Yes: {result.reason} (decided by {result.who} until {result.expires}; passed instead: {instead})."
    )
