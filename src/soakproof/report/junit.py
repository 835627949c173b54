"""A verdict as JUnit XML, for a CI: red there exactly when the verdict is not PASS. No I/O.

FAIL is a failure; ERROR and INCONCLUSIVE are errors, since a skipped test looks green to a CI. A failure that
decides nothing (overruled, or not critical) is skipped and says so: it stays in sight and gates nothing.
"""

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from soakproof.judge.finding import Finding, Outcome, Verdict
from soakproof.judge.rawfindings import outcome_of, thresholds
from soakproof.report.quantity import quantity
from soakproof.report.verdicts import figure_row, groups, is_plain, meta, sentence
from soakproof.report.visible import line

RAW_SUITE, VERDICT_SUITE = "raw thresholds", "verdict"
_TAGS = {Outcome.FAIL: "failure", Outcome.ERROR: "error", Outcome.INCONCLUSIVE: "error"}
_COUNTED = ("failure", "error", "skipped")


def render_junit(verdict: Verdict) -> str:
    """junit.xml: a suite of the raw thresholds, one of each adjudicator, and one of the verdict itself."""
    root = ElementTree.Element("testsuites", {"name": f"soakproof {line(verdict.run)}"})
    overruled = {r.threshold: r for r in verdict.reconsidered if r.applied}
    suite = _suite(root, RAW_SUITE, verdict)
    for threshold in thresholds(verdict.raw):
        name = str(threshold.get("name"))
        entry = overruled.get(name)
        why = f"overruled by {entry.who} until {entry.expires}: {entry.reason}" if entry else ""
        _raw_case(suite, name, threshold, why)
    for group in groups(verdict.findings):
        suite = _suite(root, group.adjudicator, verdict)
        for finding in group.findings:
            _case(suite, finding)
    _result(
        _named(_suite(root, VERDICT_SUITE, verdict), verdict.policy), verdict.outcome, sentence(verdict), ""
    )
    _count(root)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _suite(root: ElementTree.Element, name: str, verdict: Verdict) -> ElementTree.Element:
    attributes = {
        "name": line(name),
        "timestamp": line(verdict.judged_at).removesuffix("Z").removesuffix("+00:00"),
    }
    return ElementTree.SubElement(root, "testsuite", attributes)


def _named(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    where = {"classname": f"soakproof.{suite.get('name', '')}", "name": line(name), "time": "0"}
    return ElementTree.SubElement(suite, "testcase", where)


def _raw_case(suite: ElementTree.Element, name: str, threshold: Mapping[str, Any], overruled: str) -> None:
    observed = quantity(threshold.get("observed"), str(threshold.get("unit") or ""))
    told = f"{threshold.get('that')}: observed {observed}, n {threshold.get('n')}"
    reason = str(threshold.get("reason") or "")
    _result(_named(suite, name), outcome_of(threshold), f"{told}; {reason}" if reason else told, overruled)


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
    ElementTree.SubElement(case, tag, {"message": message, "type": outcome.lower()})


def _count(root: ElementTree.Element) -> None:
    """The totals that readers expect on each suite and on the whole."""
    for element in (*root.findall("testsuite"), root):
        element.set("tests", str(len(element.findall(".//testcase"))))
        for tag in _COUNTED:
            name = tag if tag == "skipped" else f"{tag}s"
            if not (tag == "skipped" and element is root):
                element.set(name, str(len(element.findall(f".//{tag}"))))
