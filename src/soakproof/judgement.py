"""Judges a run that was loaded: reads the policy, and hands it with the evidence and a baseline's to `judge`.

It writes nothing; no byte of evidence is touched.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from soakproof import __version__
from soakproof.catalog import Catalog
from soakproof.errors import UsageError, did_you_mean
from soakproof.judge import Evidence
from soakproof.judge.baseline import set_beside
from soakproof.judge.finding import Finding, Verdict
from soakproof.judge.identity import same_run
from soakproof.judge.judging import judge, run_safely
from soakproof.judge.repeats import runs_of
from soakproof.judge.rules import Policy
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.policy import load_policy
from soakproof.run import Loaded, runs_option
from soakproof.settings import build


def evidence_of(loaded: Loaded) -> Evidence:
    """A run that was read, as adjudicators see it."""
    return Evidence(
        run=loaded.run,
        raw=loaded.raw,
        records=loaded.others,
        tables=loaded.tables,
        readings=loaded.readings,
        nodes=loaded.nodes,
        problems=loaded.problems,
        seal_problems=loaded.seal.problems,
        recovered=loaded.seal.recovered,
        host_lost=loaded.seal.host_lost,
        id=loaded.id,
    )


def baseline_of(runs: Sequence[Loaded]) -> Evidence | None:
    """The evidence of a baseline of these runs, the first one foremost; None of none."""
    if not runs:
        return None
    first, *others = map(evidence_of, runs)
    return replace(first, repeats=tuple(others))


def beside(verdict: Verdict, baseline: Evidence | None) -> Evidence | None:
    """Of a baseline the runs that the verdict names; all where it names none of them."""
    names = {verdict.baseline, *verdict.baseline_repeats}
    used = [run for run in runs_of(baseline) if run.id in names]
    return replace(used[0], repeats=tuple(used[1:])) if used else baseline


def judge_loaded(
    run: Loaded,
    baseline: Loaded | Evidence | None,
    policy: str,
    catalog: Catalog,
    now: datetime | None = None,
    absent: Sequence[str] = (),
) -> tuple[Verdict, Evidence]:
    """The verdict on a run under the policy of a name or file; the evidence comes along for a report.

    ``now`` decides which reconsiderations have expired (default: this moment); ``absent`` tells of runs of
    the baseline that are not here. Raises UsageError for a policy that is wrong or reconsiders what the run's
    plan does not have, and for a baseline that is the run.
    """
    rules = load_policy(catalog, policy)
    evidence = evidence_of(run)
    _refuse_unmatched(rules, evidence)
    before = evidence_of(baseline) if isinstance(baseline, Loaded) else baseline
    if before and all(same_run(evidence, one) for one in runs_of(before)):
        raise UsageError(
            f"--baseline: {before.id} is the run itself",
            "compare with an earlier run of the same plan and model; "
            f"`soakproof runs{runs_option(run.path.parent)}` lists them",
        )
    verdict = judge(
        evidence,
        rules,
        before,
        judged_at=now or datetime.now(UTC),
        versions={"soakproof": __version__},
        absent=absent,
    )
    return verdict, evidence


def _refuse_unmatched(rules: Policy, evidence: Evidence) -> None:
    """An entry that names no threshold of the run's plan overrules nothing, and nobody would notice."""
    names = _threshold_names(evidence)
    known = "thresholds" in evidence.plan  # not so in what an older program wrote
    for number, entry in enumerate(rules.reconsider, 1):
        if known and entry.threshold not in names:
            raise UsageError(
                f"policy {rules.name}: reconsider {number}: the run's plan has no threshold "
                f"{plain(entry.threshold, 100)!r}",
                f"{did_you_mean(entry.threshold, names)}it has: {', '.join(sorted(names)) or 'none'}",
            )


def _threshold_names(evidence: Evidence) -> set[str]:
    """Of the whole plan: those of kinds that the user's tags left out stand only in its source."""
    judged = [*(evidence.plan.get("thresholds") or ()), *((evidence.raw or {}).get("thresholds") or ())]
    try:
        source = bounded(tomllib.loads(str(evidence.plan.get("source") or ""))).get("threshold", [])
    except (ValueError, RecursionError):
        source = []
    there = [*judged, *(source if isinstance(source, list) else ())]
    return {plain(t["name"], 100) for t in there if isinstance(t, Mapping) and "name" in t}


def try_adjudicator(
    run: Loaded, baseline: Sequence[Loaded], file: str, options: Mapping[str, Any], catalog: Catalog
) -> tuple[Finding, ...]:
    """One adjudicator's findings on a run, as it would have them in a verdict; options as a policy has them.

    A baseline that is not comparable is withheld, and a finding says so. Raises UsageError for an adjudicator
    that cannot be loaded, and for options that it does not have.
    """
    made = build(catalog.adjudicator(file), options, "--set")
    evidence = evidence_of(run)
    nothing = Policy(name="", rules={})
    _, usable, about = set_beside(evidence, nothing, baseline_of(baseline))
    return (*about, *run_safely(Path(file).stem, made, evidence, usable))
