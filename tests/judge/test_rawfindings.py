"""What the verdict says of the run's own outcome."""

from typing import Any

import pytest

from soakproof.judge import Outcome
from soakproof.judge.rawfindings import raw_findings


def answers(raw: dict[str, Any] | None, state: str = "done", **more: bool) -> dict[str, str]:
    found = raw_findings(raw, {"state": state}, (), **{"functional": True, **more})
    return {f.subject: f.answer for f in found}


def test_a_threshold_that_was_kept_says_what_was_seen() -> None:
    kept = {"name": "rate", "outcome": "pass", "observed": 12.239, "unit": "tokens/s", "n": 1832}
    told = answers({"outcome": "clean", "thresholds": [kept]})
    assert told["rate"] == "It was kept: 12.24 tokens/s observed, n 1,832."
    each = {**kept, "that": "generation_rate each >= 2 tokens/s"}
    told = answers({"outcome": "clean", "thresholds": [each]})
    assert told["rate"] == "It was kept: 12.24 tokens/s observed, the lowest, n 1,832."
    bare = {"name": "rate", "outcome": "pass"}
    assert answers({"outcome": "clean", "thresholds": [bare]})["rate"] == "It was kept."


@pytest.mark.parametrize(
    ("recovered", "words"), [(True, "what it left was sealed later"), (False, "it was killed, or still runs")]
)
def test_a_run_without_an_outcome_says_why(recovered: bool, words: str) -> None:
    told = answers(None, "running", recovered=recovered)["outcome"]
    assert words in told
    assert ("still runs" in told) is not recovered


def test_failures_that_nobody_judges_again_decide() -> None:
    raw = {
        "outcome": "failed",
        "checks": {"a": {"fail": 2}},
        "exchanges": {"fail": 1, "by_failure": {"cut": 1}},
    }
    (judged,) = raw_findings(raw, {}, (), functional=True)
    assert (judged.outcome, judged.critical) == (Outcome.FAIL, False)
    assert "2 x a, 1 failed exchange (1 cut)" in judged.answer
    (alone,) = raw_findings(raw, {}, (), functional=False)
    assert (alone.outcome, alone.critical) == (Outcome.FAIL, True)
    assert "No adjudicator that decides judges them again" in alone.answer
