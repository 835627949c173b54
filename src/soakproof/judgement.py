"""Judges a run that was loaded: reads the policy, and hands it with the evidence and a baseline's to `judge`.

It writes nothing; no byte of evidence is touched.
"""

from datetime import UTC, datetime

from soakproof import __version__
from soakproof.catalog import Catalog
from soakproof.errors import UsageError
from soakproof.judge import Evidence
from soakproof.judge.finding import Verdict
from soakproof.judge.identity import same_run
from soakproof.judge.judging import judge
from soakproof.policy import load_policy
from soakproof.run import Loaded


def evidence_of(loaded: Loaded) -> Evidence:
    """A run that was read, as adjudicators see it."""
    return Evidence(
        run=loaded.run,
        raw=loaded.raw,
        records=loaded.records,
        nodes=loaded.nodes,
        problems=loaded.problems,
        seal_problems=loaded.seal.problems,
        recovered=loaded.seal.recovered,
        host_lost=loaded.seal.host_lost,
        id=loaded.id,
    )


def judge_loaded(
    run: Loaded, baseline: Loaded | None, policy: str, catalog: Catalog, now: datetime | None = None
) -> tuple[Verdict, Evidence]:
    """The verdict on a run under the policy of a name or file; the evidence comes along for a report.

    ``now`` decides which reconsiderations have expired (default: this moment). Raises UsageError for a
    policy that is wrong, and for a baseline that is the run itself.
    """
    rules = load_policy(catalog, policy)
    evidence = evidence_of(run)
    before = evidence_of(baseline) if baseline else None
    if before and same_run(evidence, before):
        raise UsageError(
            f"--baseline: {before.id} is the run itself",
            "compare with an earlier run of the same plan and model; `soakproof runs` lists them",
        )
    verdict = judge(
        evidence,
        rules,
        before,
        judged_at=now or datetime.now(UTC),
        versions={"soakproof": __version__},
    )
    return verdict, evidence
