"""Evidence of a case before the bundled policies, as `soakproof adjudicate` judges it."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from soakproof.catalog import Catalog
from soakproof.judge import Evidence, Finding, Outcome
from soakproof.judge.finding import Verdict
from soakproof.judge.judging import judge
from soakproof.judge.rules import Policy
from soakproof.policy import load_policy

NOW = datetime(2026, 9, 30, tzinfo=UTC)


@cache
def bundled(policy: str) -> Policy:
    return load_policy(Catalog(Path(__file__).parent), policy)


def verdict(run: Evidence, baseline: Evidence | None = None, policy: str = "default") -> Verdict:
    return judge(run, bundled(policy), baseline, judged_at=NOW)


def of(judged: Verdict, adjudicator: str, subject: str) -> Finding:
    return next(f for f in judged.findings if (f.adjudicator, f.subject) == (adjudicator, subject))


def fails(judged: Verdict) -> set[str]:
    """Adjudicator and subject of each FAIL that decides."""
    return {
        f"{f.adjudicator} {f.subject}" for f in judged.findings if f.critical and f.outcome is Outcome.FAIL
    }
