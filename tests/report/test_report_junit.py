"""JUnit XML: red in a CI exactly when the verdict is not PASS, with what decides nothing in sight."""

from dataclasses import replace
from xml.etree import ElementTree

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge.finding import Finding, Outcome, merge
from soakproof.report import render_junit

RESULTS = ("failure", "error", "skipped")


def parsed(**more: object) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(founding.verdict(**more)))


def case(root: ElementTree.Element, suite: str, name: str) -> ElementTree.Element:
    found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def test_suites_are_those_of_the_raw_outcome_the_adjudicators_and_the_verdict() -> None:
    names = [suite.get("name") for suite in parsed()]
    assert names == [
        "raw.outcome", "raw.thresholds",
        "adjudicated.raw", "adjudicated.functional", "adjudicated.throughput", "adjudicated.memory",
        "adjudicated.kernel", "adjudicated.verdict",
    ]  # fmt: skip


def test_an_overruled_failure_is_skipped_and_says_who_overruled_it() -> None:
    root = parsed()
    skipped = case(root, "raw.thresholds", "prose-rate").find("skipped")
    assert skipped is not None
    assert "overruled by the release's owner until 2026-11-30" in skipped.get("message", "")
    assert (root.get("failures"), root.get("errors")) == ("0", "0")


def test_a_failure_that_nothing_overruled_is_a_failure() -> None:
    root = parsed(reconsidered=(), outcome=Outcome.FAIL)
    failure = case(root, "raw.thresholds", "prose-rate").find("failure")
    assert failure is not None
    assert founding.THAT in failure.get("message", "")
    assert case(root, "adjudicated.verdict", "release").find("failure") is not None


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
    element = case(parsed(findings=(found,), outcome=outcome), "adjudicated.memory", "available").find(tag)
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


def test_raw_failures_stay_in_sight_whatever_decides() -> None:
    """Checks and requests as well as thresholds; skipped under a PASS, and failures under all else."""
    raw = {**founding.raw(), "checks": {"json.strict": {"pass": 1, "fail": 2}}, "exchanges": {"fail": 3}}
    for outcome in Outcome:
        root = parsed(raw=raw, reconsidered=(), outcome=outcome)
        tag = "skipped" if outcome is Outcome.PASS else "failure"
        cases = [
            *root.findall("testsuite[@name='raw.failures']/testcase"),
            case(root, "raw.outcome", "run"),
            case(root, "raw.thresholds", "prose-rate"),
        ]
        assert len(cases) == 4
        for element in cases:
            (told,) = element
            assert told.tag == tag
            assert told.text == told.get("message")
        red = int(root.get("failures", "")) + int(root.get("errors", ""))
        assert (red > 0) is (outcome is not Outcome.PASS)


def test_no_two_cases_of_a_suite_have_one_name() -> None:
    """A CI tells cases apart by their names, and keeps one of each."""
    found = [founding.finding("memory", "available", f"{n}") for n in range(3)]
    root = parsed(findings=tuple(found))
    names = [case.get("name") for case in root.findall("testsuite[@name='adjudicated.memory']/testcase")]
    assert names == ["available", "available (no. 2)", "available (no. 3)"]


def test_its_structure_is_the_one_that_readers_share() -> None:
    """What JUnit's own schema and that of Jenkins ask for, in their order."""
    for root in (parsed(), ElementTree.fromstring(render_junit(hostile.verdict()))):
        assert root.tag == "testsuites"
        for suite in root:
            assert suite.tag == "testsuite"
            assert set(suite.attrib) == {"name", "timestamp", "tests", "failures", "errors", "skipped"}
            for element in suite:
                assert element.tag == "testcase"
                assert set(element.attrib) == {"classname", "name", "time"}
                assert element.get("classname") == f"soakproof.{suite.get('name')}"
                tags = [child.tag for child in element]
                assert tags in (
                    [],
                    ["system-out"],
                    *([t, *more] for t in RESULTS for more in ([], ["system-out"])),
                )


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
