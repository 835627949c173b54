"""A verdict for a job on GitHub: a summary of the step in Markdown, and annotations of its run. No I/O.

What a model or a server wrote cannot start a command to the runner: it stands only in what a command says,
on one line, escaped as the runner unescapes it.
"""

import re
from collections.abc import Iterator, Mapping

from soakproof.judge.finding import Finding, Outcome, Verdict
from soakproof.report.raw import raw_section
from soakproof.report.verdicts import limit_beside, ranked, sentence
from soakproof.report.visible import line

SUMMARY_LIMIT = 1024 * 1024  # bytes of a step's summary; GitHub shows nothing of a larger one
_FENCE_ROOM = 2048  # more than the longest fence of an excerpt
_OPENING = re.compile("(`{3,})text")
_MOST = 9  # annotations of one level that GitHub shows of a step, but for the verdict's own
_LONGEST = 1000  # characters of one
_LEVELS = {Outcome.FAIL: "error", Outcome.ERROR: "error", Outcome.INCONCLUSIVE: "warning"}
_IN_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_DATA, ":": "%3A", ",": "%2C"}


def step_summary(markdown: str, limit: int = SUMMARY_LIMIT) -> str:
    """The report as far as it fits into ``limit`` bytes, whole lines of it, and what was left out."""
    size = len(markdown.encode())
    if size <= limit:
        return markdown
    note = f"\n\n*Cut here: the whole report has {size:,} bytes, more than a summary may have.*\n"
    kept = markdown.encode()[: max(limit - len(note.encode()) - _FENCE_ROOM, 0)].decode(errors="ignore")
    kept = kept.rpartition("\n")[0]
    return f"{kept}{_closing(kept)}{note}"


def _closing(text: str) -> str:
    """What ends a fenced block that the text leaves open."""
    fence = ""
    for told in text.split("\n"):
        if fence:
            fence = "" if told == fence else fence
        elif opened := _OPENING.fullmatch(told):
            fence = opened[1]
    return f"\n{fence}" if fence else ""


def annotations(verdict: Verdict) -> Iterator[str]:
    """Workflow commands: the verdict, then the findings that decide and are no PASS, the worst first."""
    raw = raw_section(verdict)
    told = f"{sentence(verdict)} Raw outcome {raw.outcome}: {raw.sentence}."
    level = "notice" if verdict.outcome is Outcome.PASS else "error"
    yield _command(level, f"soakproof: {verdict.outcome}", told)
    shown = [f for f in ranked(verdict.findings) if f.critical and f.outcome in _LEVELS]
    for level in ("error", "warning"):
        yield from [_annotation(f, level) for f in shown if _LEVELS[f.outcome] == level][:_MOST]


def _annotation(finding: Finding, level: str) -> str:
    told = f"{finding.answer} {limit_beside(finding)}".rstrip()
    return _command(level, f"{finding.outcome} {finding.adjudicator} {finding.subject}", told)


def _command(level: str, title: str, told: str) -> str:
    about = _escaped(line(title, 200), _IN_PROPERTY)
    return f"::{level} title={about}::{_escaped(line(told, _LONGEST), _IN_DATA)}"


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
