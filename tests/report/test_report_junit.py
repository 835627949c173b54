"""JUnit XML: red in a CI exactly when the verdict is not PASS, with what decides nothing in sight."""

from dataclasses import replace
from xml.etree import ElementTree

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge.finding import Finding, Outcome, merge
from soakproof.report import render_junit


def parsed(**more: object) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(founding.verdict(**more)))


def case(root: ElementTree.Element, suite: str, name: str) -> ElementTree.Element:
    found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def test_suites_are_the_raw_thresholds_the_adjudicators_and_the_verdict() -> None:
    names = [suite.get("name") for suite in parsed()]
    assert names == ["raw thresholds", "raw", "functional", "throughput", "memory", "kernel", "verdict"]


def test_an_overruled_failure_is_skipped_and_says_who_overruled_it() -> None:
    root = parsed()
    skipped = case(root, "raw thresholds", "prose-rate").find("skipped")
    assert skipped is not None
    assert "overruled by the release's owner until 2026-11-30" in skipped.get("message", "")
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_a_failure_that_nothing_overruled_is_a_failure() -> None:
    root = parsed(reconsidered=(), outcome=Outcome.FAIL)
    failure = case(root, "raw thresholds", "prose-rate").find("failure")
    assert failure is not None
    assert founding.THAT in failure.get("message", "")
    assert case(root, "verdict", "release").find("failure") is not None


@pytest.mark.parametrize(
    ("outcome", "tag", "kind"),
    [
        (Outcome.FAIL, "failure", "fail"),
        (Outcome.ERROR, "error", "error"),
        (Outcome.INCONCLUSIVE, "error", "inconclusive"),
    ],
)
def test_outcomes_other_than_pass_are_never_green(outcome: Outcome, tag: str, kind: str) -> None:
    found = founding.finding("memory", "available", "no data", outcome)
    element = case(parsed(findings=(found,), outcome=outcome), "memory", "available").find(tag)
    assert element is not None
    assert element.get("type") == kind


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("critical", [True, False])
def test_a_ci_is_red_exactly_when_the_verdict_is_not_pass(outcome: Outcome, critical: bool) -> None:
    found: tuple[Finding, ...] = (
        *founding.findings(),
        founding.finding("x", "y", "z", outcome, critical=critical),
    )
    merged = merge(f.outcome for f in found if f.critical)
    root = parsed(findings=found, outcome=merged)
    red = int(root.get("failures", "")) + int(root.get("errors", ""))
    assert (red > 0) is (merged is not Outcome.PASS)


def test_counts_are_those_of_the_cases() -> None:
    root = parsed(
        findings=tuple(replace(f, outcome=Outcome.ERROR) for f in founding.findings()), outcome=Outcome.ERROR
    )
    for suite in root:
        assert int(suite.get("tests", "")) == len(suite.findall("testcase"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
    assert int(root.get("tests", "")) == sum(int(suite.get("tests", "")) for suite in root)


def test_hostile_text_stays_within_xml() -> None:
    text = render_junit(hostile.verdict())
    root = ElementTree.fromstring(text)
    assert root.findall(".//testcase")
    assert not root.findall(".//script")
    assert "\\x00" in text
