"""A verdict as JUnit XML, for a CI: red there exactly when the verdict is not PASS. No I/O.

Suites ``raw.*`` are the run's own outcome, suites ``adjudicated.*`` what the policy made of it. FAIL is a
failure; ERROR and INCONCLUSIVE are errors, since a skipped test looks green to a CI. A failure that decides
nothing (a raw one under a verdict of PASS, one that is overruled or not critical) is skipped and says so: it
stays in sight and gates nothing. Each result stands in the message and in the text: Jenkins and GitHub's
actions show the one, GitLab the other.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from soakproof.judge.finding import Finding, Outcome, Verdict
from soakproof.judge.rawfindings import failed_beside, outcome_of, thresholds
from soakproof.plain import commandless
from soakproof.report.raw import observed, raw_section
from soakproof.report.verdicts import figure_row, groups, is_plain, meta, sentence
from soakproof.report.visible import line

RAW, ADJUDICATED = "raw", "adjudicated"
_TAGS = {Outcome.FAIL: "failure", Outcome.ERROR: "error", Outcome.INCONCLUSIVE: "error"}
_RAW_OUTCOMES = {"clean": Outcome.PASS, "failed": Outcome.FAIL, "error": Outcome.ERROR}
_UNWEIGHED, _AGAIN = "the verdict is PASS", " (no. "
_COUNTED = ("failure", "error", "skipped")


def render_junit(verdict: Verdict) -> str:
    """junit.xml: suites of the raw outcome, of each adjudicator, and of the verdict itself."""
    root = ElementTree.Element("testsuites", {"name": f"soakproof {line(verdict.run)}"})
    for name, cases in _raw_suites(verdict):
        suite = _suite(root, f"{RAW}.{name}", verdict)
        for case, outcome, told, overruled in cases:
            no_weight = overruled or (_UNWEIGHED if verdict.outcome is Outcome.PASS else "")
            _result(_named(suite, case), outcome, told, no_weight)
    for group in groups(verdict.findings):
        suite = _suite(root, f"{ADJUDICATED}.{group.adjudicator}", verdict)
        for finding in group.findings:
            _case(suite, finding)
    suite = _suite(root, f"{ADJUDICATED}.verdict", verdict)
    _result(_named(suite, verdict.policy), verdict.outcome, sentence(verdict), "")
    _count(root)
    ElementTree.indent(root)
    text = f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
    return commandless(text, "&#{};")


_RawCase = tuple[str, Outcome, str, str]  # name, outcome, what is told of it, what overruled it


def _raw_suites(verdict: Verdict) -> Iterator[tuple[str, list[_RawCase]]]:
    """The run's own outcome, its thresholds, and whatever else failed in it."""
    raw = verdict.raw or {}
    outcome = _RAW_OUTCOMES.get(str(raw.get("outcome")), Outcome.INCONCLUSIVE)
    whole = raw_section(verdict)
    yield "outcome", [("run", outcome, f"{whole.outcome}: {whole.sentence}", "")]
    overruled = {
        r.threshold: f"overruled by {r.who} until {r.expires}: {r.reason}"
        for r in verdict.reconsidered
        if r.applied
    }
    judged = [_raw_case(threshold, overruled) for threshold in thresholds(raw)]
    if judged:
        yield "thresholds", judged
    failed = [(told, Outcome.FAIL, told, "") for told in failed_beside(raw)]
    if failed:
        yield "failures", failed


def _raw_case(threshold: Mapping[str, Any], overruled: Mapping[str, str]) -> _RawCase:
    name = str(threshold.get("name"))
    told = f"{threshold.get('that')}: observed {observed(threshold)}, n {threshold.get('n')}"
    reason = str(threshold.get("reason") or "")
    return name, outcome_of(threshold), f"{told}; {reason}" if reason else told, overruled.get(name, "")


def _suite(root: ElementTree.Element, name: str, verdict: Verdict) -> ElementTree.Element:
    attributes = {
        "name": line(name),
        "timestamp": line(verdict.judged_at).removesuffix("Z").removesuffix("+00:00"),
    }
    return ElementTree.SubElement(root, "testsuite", attributes)


def _named(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    """A case; where its suite has one of that name a number tells them apart, else a CI keeps but one."""
    shown = line(name)
    there = sum(case.get("name", "").partition(_AGAIN)[0] == shown for case in suite)
    told = f"{shown}{_AGAIN}{there + 1})" if there else shown
    where = {"classname": f"soakproof.{suite.get('name', '')}", "name": told, "time": "0"}
    return ElementTree.SubElement(suite, "testcase", where)


def _case(suite: ElementTree.Element, finding: Finding) -> None:
    case = _named(suite, finding.subject)
    _result(
        case, finding.outcome, finding.answer, "" if finding.critical else "it does not decide the verdict"
    )
    told = [f"{name}: {text}" for name, text in meta(finding)]
    if not is_plain(finding):
        told += [": ".join(part for part in figure_row(figure) if part) for figure in finding.figures]
    told += [f"exchange {id}" for id in finding.exchanges]
    ElementTree.SubElement(case, "system-out").text = "\n".join(
        line(text) for text in (finding.question, *told)
    )


def _result(case: ElementTree.Element, outcome: Outcome, told: str, no_weight: str) -> None:
    """What a CI reads; ``no_weight`` says why a result other than PASS decides nothing."""
    if outcome is Outcome.PASS:
        return
    message = line(f"{outcome}, but {no_weight}: {told}" if no_weight else f"{outcome}: {told}")
    tag = "skipped" if no_weight else _TAGS[outcome]
    ElementTree.SubElement(case, tag, {"message": message, "type": outcome.lower()}).text = message


def _count(root: ElementTree.Element) -> None:
    """The totals that readers expect on each suite and on the whole."""
    for element in (*root.findall("testsuite"), root):
        element.set("tests", str(len(element.findall(".//testcase"))))
        for tag in _COUNTED:
            name = tag if tag == "skipped" else f"{tag}s"
            if not (tag == "skipped" and element is root):
                element.set(name, str(len(element.findall(f".//{tag}"))))
