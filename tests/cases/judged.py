"""Evidence of a case before the bundled policies, as `soakproof adjudicate` judges it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import judging

from soakproof.catalog import Catalog
from soakproof.judge import Evidence, Finding, Outcome
from soakproof.judge.finding import Verdict
from soakproof.judge.judging import judge
from soakproof.policy import load_policy
from soakproof.records import Record

NOW = datetime(2026, 9, 30, tzinfo=UTC)


def verdict(run: Evidence, baseline: Evidence | None = None, policy: str = "default") -> Verdict:
    rules = load_policy(Catalog(Path(__file__).parent), policy)
    return judge(run, rules, baseline, judged_at=NOW)


def of(judged: Verdict, adjudicator: str, subject: str) -> Finding:
    return next(f for f in judged.findings if (f.adjudicator, f.subject) == (adjudicator, subject))


def fails(judged: Verdict) -> set[str]:
    """Adjudicator and subject of each FAIL that decides."""
    return {
        f"{f.adjudicator} {f.subject}" for f in judged.findings if f.critical and f.outcome is Outcome.FAIL
    }


def soak(records: Iterable[Record], **more: Any) -> Evidence:
    """A run with these records, long enough for the last of them, with its slots free and its watch whole."""
    there = list(records)
    return judging.evidence(there, **more)
