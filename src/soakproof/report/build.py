"""Puts a report's page together from a verdict and the evidence it rests on. Pure; no I/O."""

from soakproof.judge.basis import plan_duration
from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Verdict
from soakproof.judge.telling import length
from soakproof.plain import model_name
from soakproof.report.bounds import memory_bounds
from soakproof.report.coverage import coverage_table, evidence_lines
from soakproof.report.excerpts import excerpts, left_out
from soakproof.report.figures import drawings
from soakproof.report.identity import changed_table, identity_tables, versions_table
from soakproof.report.page import Page
from soakproof.report.raw import raw_section
from soakproof.report.schedule import schedule_table
from soakproof.report.traffic import checks_table, compared_table, traffic_table
from soakproof.report.verdicts import groups, not_comparable, overruled, sentence


def build(verdict: Verdict, evidence: Evidence, baseline: Evidence | None) -> Page:
    """The whole report of a verdict; ``baseline`` is the evidence that it was judged against, if any.

    A baseline that the verdict found not comparable is named, and nothing is set beside it.
    """
    unfit = not_comparable(verdict)
    beside = None if unfit else baseline
    return Page(
        run=verdict.run,
        facts=_facts(verdict, evidence),
        raw=raw_section(verdict),
        reconsidered=verdict.reconsidered,
        overruled=overruled(verdict),
        verdict=verdict.outcome,
        sentence=sentence(verdict),
        rests_on=verdict.rests_on,
        caveats=verdict.caveats,
        groups=groups(verdict.findings),
        checks=checks_table(evidence),
        excerpts=excerpts(evidence),
        excerpts_left_out=left_out(evidence),
        traffic=traffic_table(evidence),
        drawings=drawings(evidence, beside, memory_bounds(verdict)),
        baseline=verdict.baseline,
        changed=changed_table(verdict.changed, verdict.baseline),
        compared=compared_table(evidence, beside, unfit),
        identity=identity_tables(verdict, evidence),
        evidence=evidence_lines(evidence),
        schedule=schedule_table(evidence),
        coverage=coverage_table(evidence),
        not_proven=verdict.not_proven,
        versions=versions_table(verdict, evidence),
    )


def _facts(verdict: Verdict, evidence: Evidence) -> tuple[tuple[str, str], ...]:
    plan, target = evidence.plan, evidence.target
    model = target.get("model_resolved") or target.get("model") or "unknown"
    duration = evidence.duration
    return (
        ("Plan", str(plan.get("name") or "unknown")),
        ("Model", model_name(model)),
        ("Started", str(evidence.run.get("started_at") or "unknown")),
        ("Load", _lasted(duration, plan_duration(evidence))),
        ("Policy", verdict.policy),
        ("Baseline", verdict.baseline or "none"),
        ("Judged", verdict.judged_at),
    )


def _lasted(duration: float | None, planned: float | None) -> str:
    """How long the load was, beside what the plan itself asks for."""
    lasted = "unknown" if duration is None else length(duration)
    return lasted if planned is None else f"{lasted}; the plan has {length(planned)}"
