"""Whole proofs: a fault that is planted in the testbed is found, and a healthy way is not.

Each goes from Locust's own process over the evidence to the exit code of `soakproof adjudicate`. That every
other plant is found as well is shown in `tests/matrix`.
"""

from pathlib import Path

import pytest

from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from tests.load.soaks import (
    THRESHOLDS,
    adjudicated,
    children,
    document,
    findings,
    loaded,
    locust,
    output,
    the_run,
)

pytestmark = pytest.mark.timeout(120)

ALL = """
deck = 5
[mix]
isolation = 1
cache_pair = 1
cancellation = 1
structured_json = 1
long_prose = 1
[kind.cache_pair]
prompt = "400 tokens"
[kind.cancellation]
bystander = "60 tokens"
[kind.long_prose]
prompt = "400 tokens"
answer = "60 tokens"
"""


def soak(folder: Path, pair: Testbed, plan: str, seconds: int = 4) -> tuple[int, Path]:
    """Locust's exit code and the run of a plan by one user."""
    (folder / "mine.toml").write_text(f'users = 1\nduration = "{seconds}s"\nseed = 11\n{plan}{THRESHOLDS}')
    with locust(folder, "--headless", "--plan", "mine.toml", "--host", pair.url) as process:
        code = process.wait(90)
    return code, the_run(folder)


def test_a_planted_fault_goes_all_the_way_to_the_verdict(tmp_path: Path):
    plan = planting.find("swapped-answers").plan
    with Testbed.start(tmp_path / "testbed", arguments=["--plant", "swapped-answers"]) as pair:
        code, run = soak(tmp_path, pair, plan)
    assert code == 1, output(tmp_path)
    raw = document(run / "raw.json")
    assert raw["outcome"] == "failed"
    assert raw["checks"]["isolation.own"]["fail"]
    judged, verdict = adjudicated(run)
    assert (judged, verdict["outcome"]) == (1, "FAIL")
    assert {("isolation", "foreign"), ("functional", "isolation.own")} <= findings(verdict, "FAIL")


def test_the_same_way_without_a_fault_is_clean(tmp_path: Path, testbed: Testbed):
    """One whole deck of all kinds: nobody finds anything but that so short a load says too little."""
    code, run = soak(tmp_path, testbed, ALL, seconds=7)
    assert code == 0, output(tmp_path)
    raw = document(run / "raw.json")
    assert raw["outcome"] == "clean"
    assert not any(counts["fail"] for counts in raw["checks"].values())
    judged, verdict = adjudicated(run)
    told = [f for f in verdict["findings"] if f["outcome"] != "PASS" and f["critical"]]
    assert [(f["adjudicator"], f["subject"]) for f in told] == [("coverage", "duration")], told
    assert (judged, verdict["outcome"]) == (2, "INCONCLUSIVE")


def test_a_watch_that_is_ended_early_makes_no_pass(tmp_path: Path, testbed: Testbed):
    """It ends in good order, so that the run is clean and whole: only its time is short."""
    (tmp_path / "mine.toml").write_text(ALL)
    asked = ("--headless", "-t", "6s", "--plan", "mine.toml", "--host", testbed.url)
    with locust(tmp_path, *asked) as process:
        run = loaded(tmp_path, 1)
        children(process)["watch"].terminate()
        assert process.wait(60) == 0, output(tmp_path)
    judged, verdict = adjudicated(run)
    assert judged == 2
    assert ("coverage", "watch") in findings(verdict, "INCONCLUSIVE")
