"""For a job on GitHub: a summary that fits, and annotations in which nothing else is a command."""

import re

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge import Outcome
from soakproof.report import annotations, build, step_summary, to_markdown

COMMAND = re.compile(r"::(error|warning|notice) title=([^,:\r\n]*)::([^\r\n]*)")
UNESCAPED = {"%25": "%", "%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ","}


def unescaped(text: str) -> str:
    """As the runner reads it."""
    return re.sub("%(25|0D|0A|3A|2C)", lambda m: UNESCAPED[m[0]], text)


def test_the_verdict_comes_first_and_then_what_decided_it() -> None:
    (told,) = annotations(founding.verdict())
    assert told.startswith("::notice title=soakproof%3A PASS::")
    assert "Raw outcome FAILED: Raw thresholds or checks failed" in told
    found = [
        founding.finding("memory", "available", "50% is gone, and more: all.", Outcome.FAIL, limit="18 GiB"),
        founding.finding("kernel", "log", "Not seen.", Outcome.INCONCLUSIVE),
        founding.finding("x", "y", "A remark.", Outcome.FAIL, critical=False),
    ]
    verdict = founding.verdict(findings=(*founding.findings(), *found), outcome=Outcome.FAIL)
    first, *others = annotations(verdict)
    assert first.startswith("::error title=soakproof%3A FAIL::")
    assert others == [
        "::error title=FAIL memory available::50%25 is gone, and more: all. Limit: 18 GiB.",
        "::warning title=INCONCLUSIVE kernel log::Not seen.",
    ]


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE])
def test_no_more_than_github_shows(outcome: Outcome) -> None:
    found = tuple(founding.finding("memory", f"s{n}", "It broke.", outcome) for n in range(30))
    told = list(annotations(founding.verdict(findings=found, outcome=outcome)))
    assert max(sum(t.startswith(f"::{level}") for t in told) for level in ("error", "warning")) <= 10


def test_hostile_text_starts_no_command() -> None:
    told = list(annotations(hostile.verdict()))
    assert len(told) > 3
    for command in told:
        match = COMMAND.fullmatch(command)
        assert match
        assert "<script>" in unescaped(match[3])
    attack = "%0A::add-mask::x\r\n::stop-commands::t,file=a::b ##[error]"
    found = founding.finding(attack, attack, attack, Outcome.FAIL)
    *_, command = annotations(founding.verdict(findings=(found,), outcome=Outcome.FAIL))
    match = COMMAND.fullmatch(command)
    assert match
    assert "%250A" in match[2]
    assert "\n" not in unescaped(match[3])


def test_a_summary_that_is_too_large_is_cut_at_a_line_and_says_so() -> None:
    text = to_markdown(build(hostile.verdict(), hostile.run(), None), figures="")
    assert step_summary(text) == text
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    for limit in range(4000, len(text.encode()), len(text) // 12):
        cut = step_summary(text, limit)
        assert len(cut.encode()) <= limit
        page = parser.render(cut)
        assert re.search(r"<em>Cut here: the whole report has [\d,]+ bytes", page)
        assert "script" not in re.findall(r"<(\w+)", page)
    assert "Cut here" in step_summary("é" * 2_000_000)
    assert len(step_summary("é" * 2_000_000).encode()) <= 1024 * 1024
