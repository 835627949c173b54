"""Whether a run has a baseline that it may be compared with. Pure; no I/O.

A baseline that is not comparable, or is no sound evidence itself, is withheld from every adjudicator. Of a
baseline of several runs those that will do are used, and the others are told.
"""

from collections.abc import Sequence
from dataclasses import replace

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Finding, Outcome
from soakproof.judge.identity import Comparison, compare, same_run
from soakproof.judge.repeats import runs_of
from soakproof.judge.rules import Policy
from soakproof.judge.telling import counted
from soakproof.plain import listed

_MOST_RUNS = 10  # of a baseline, that a finding names
_TOLD = 120  # characters of differences that a finding names, after the first


def set_beside(
    evidence: Evidence, policy: Policy, baseline: Evidence | None, absent: Sequence[str] = ()
) -> tuple[Comparison, Evidence | None, tuple[Finding, ...]]:
    """The comparison, the baseline if adjudicators may use it, and what there is to say about it.

    ``absent`` says of runs of the baseline why they are not even here.
    """
    if baseline is None:
        missing = _finding(Outcome.INCONCLUSIVE, "The policy requires a baseline; none was given.")
        return Comparison(), None, (missing,) if policy.baseline_required else ()
    looked = [(run, *_looked_at(evidence, policy, run)) for run in runs_of(baseline)]
    fit = [(run, compared) for run, compared, against in looked if not against]
    left_out = [f"{run.id}: {against}" for run, _, against in looked if against] + list(absent)
    if not fit:
        told = listed(left_out, _MOST_RUNS, "; ", limit=400)
        return looked[0][1], None, (_finding(Outcome.INCONCLUSIVE, f"{told}."),)
    (first, compared), *others = fit
    used = replace(first, repeats=tuple(run for run, _ in others))
    answer = _comparable(
        [run.id for run in runs_of(used)], policy, compared, left_out, _later(evidence, used)
    )
    return compared, used, (_finding(Outcome.PASS, answer),)


def _looked_at(evidence: Evidence, policy: Policy, baseline: Evidence) -> tuple[Comparison, str]:
    """One run beside another, and why it will not do; empty when it will."""
    compared = compare(evidence, baseline, policy.roles)
    against = _unfit(evidence, baseline)
    if not against and not compared.comparable:
        told = _first([*compared.differ, *compared.unknown])
        against = f"not comparable: {told}. {_what_to_do(evidence, baseline)}"
    return compared, against


def _what_to_do(evidence: Evidence, baseline: Evidence) -> str:
    same_plan = evidence.plan.get("source") == baseline.plan.get("source")
    if same_plan and evidence.plan.get("kinds") != baseline.plan.get("kinds"):
        return "The same plan asks other sizes of short runs ([short]), or --tags left kinds out: soak alike"
    return "A policy can move a field's role: [identity] noted = [...]"


def _first(differences: list[str]) -> str:
    """The first differences, as many as a sentence can hold: where the plan differs, much else does."""
    shown = [d for n, d in enumerate(differences) if not n or len("; ".join(differences[: n + 1])) <= _TOLD]
    more = len(differences) - len(shown)
    return "; ".join(shown) + (f"; and {more} more, which the report lists" if more else "")


def _later(evidence: Evidence, baseline: Evidence) -> list[str]:
    """Runs of the baseline that began after this one: it is not they that it was changed from."""
    began = str(evidence.run.get("started_at") or "~")
    return [run.id for run in runs_of(baseline) if str(run.run.get("started_at") or "") > began]


def _comparable(
    names: list[str], policy: Policy, compared: Comparison, left_out: list[str], later: list[str]
) -> str:
    named = listed(names, _MOST_RUNS)
    runs = f"{counted(len(names), 'run')}, {named}" if len(names) > 1 else named
    told = [f"{runs}: every field that must be the same is the same"]
    if compared.remarks:
        told.append(f"not known: {', '.join(compared.remarks)}")
    if policy.roles:
        told.append(f"moved by the policy: {', '.join(f'{n} to {r}' for n, r in policy.roles.items())}")
    if later:
        told.append(f"begun after this run: {listed(later, _MOST_RUNS)}")
    if left_out:
        told.append(f"left out of the baseline: {listed(left_out, _MOST_RUNS)}")
    return "; ".join(told) + "."


def _unfit(evidence: Evidence, baseline: Evidence) -> str:
    """Why a baseline is no evidence to compare with, whatever it measured; empty when it is."""
    if same_run(evidence, baseline):
        return "it is the run itself"
    broken = [*baseline.seal_problems, *baseline.problems]
    if broken:
        return f"it is not what was sealed: {broken[0]}"
    outcome = (baseline.raw or {}).get("outcome")
    if outcome not in ("clean", "failed"):
        return f"it is no finished run: its raw outcome is {outcome or 'missing'}"
    return "it was sealed after a crash" if baseline.recovered else ""


def _finding(outcome: Outcome, answer: str) -> Finding:
    return Finding(
        adjudicator="identity",
        subject="baseline",
        question="Is there a baseline that this run can be compared with?",
        outcome=outcome,
        answer=answer,
        limit="every field that must be the same is the same",
        limit_source="policy",
    )
