"""The terminal's table: the raw outcome first, bounded in width, nothing in it that drives a terminal."""

import re

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge import Outcome
from soakproof.report import terminal_table


def test_the_raw_outcome_comes_first_and_the_verdict_last() -> None:
    shown = terminal_table(founding.verdict()).splitlines()
    assert shown[0] == "raw outcome: FAILED"
    assert "verdict: PASS" in shown[-4:]
    assert re.search(r"^fail +prose-rate .* 12\.24 tokens/s", "\n".join(shown), re.MULTILINE)
    assert re.search(
        r"^memory +available +PASS +Never under 45.64 GiB. +1,832", "\n".join(shown), re.MULTILINE
    )


@pytest.mark.parametrize("width", [10, 80, 110, 200])
def test_it_is_never_wider_than_asked(width: int) -> None:
    for verdict in (founding.verdict(), hostile.verdict()):
        assert max(len(row) for row in terminal_table(verdict, width=width).splitlines()) <= max(width, 80)


def test_what_cannot_decide_is_marked_and_not_coloured() -> None:
    beside = founding.finding("throughput", "long_prose first_token_time", "+31.1%.", critical=False)
    verdict = founding.verdict(findings=(*founding.verdict().findings, beside))
    for width in (80, 110):
        shown = terminal_table(verdict, width=width, colour=True)
        (row,) = [line for line in shown.splitlines() if "+31.1%" in line]
        assert "(PASS)" in row
        assert "\x1b" not in row
        assert "Outcomes in brackets cannot decide the verdict." in shown
    decides = founding.verdict(findings=tuple(f for f in founding.verdict().findings if f.critical))
    assert "brackets" not in terminal_table(decides)


def test_an_answer_keeps_most_of_a_narrow_terminal() -> None:
    answer = "word " * 40
    found = founding.finding("throughput", "long_prose first_token_time", answer, Outcome.INCONCLUSIVE)
    shown = terminal_table(founding.verdict(findings=(found,)), width=80)
    assert max(line.count("word") for line in shown.splitlines()) >= 7


def test_no_colours_unless_asked() -> None:
    assert "\x1b" not in terminal_table(founding.verdict())
    coloured = terminal_table(founding.verdict(), colour=True)
    assert "\x1b[31mfail\x1b[0m" in coloured
    assert "\x1b[32mPASS\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == terminal_table(founding.verdict())


def test_hostile_text_cannot_drive_the_terminal() -> None:
    shown = terminal_table(hostile.verdict())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_a_verdict_without_findings_says_so() -> None:
    assert "no findings" in terminal_table(founding.verdict(findings=()))
