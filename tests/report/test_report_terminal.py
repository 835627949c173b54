"""The terminal's table: the raw outcome first, bounded in width, nothing in it that drives a terminal."""

import re

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge import Outcome
from soakproof.report import terminal_table


def test_the_raw_outcome_comes_first_and_the_verdict_last() -> None:
    shown = terminal_table(founding.verdict(), every=True).splitlines()
    assert shown[0] == "raw outcome: FAILED"
    assert "verdict: PASS" in shown[-12:]
    assert re.search(r"^fail +prose-rate .* 12\.24 tokens/s", "\n".join(shown), re.MULTILINE)
    assert re.search(
        r"^memory +available +PASS +Never under 45.64 GiB. +1,832", "\n".join(shown), re.MULTILINE
    )


@pytest.mark.parametrize("width", [10, 80, 110, 200])
def test_it_is_never_wider_than_asked(width: int) -> None:
    for verdict in (founding.verdict(), hostile.verdict()):
        for every in (False, True):
            shown = terminal_table(verdict, width=width, every=every).splitlines()
            assert max(map(len, shown)) <= max(width, 80)


def test_what_cannot_decide_is_marked_and_not_coloured() -> None:
    beside = founding.finding("throughput", "long_prose first_token_time", "+31.1%.", critical=False)
    verdict = founding.verdict(findings=(*founding.verdict().findings, beside))
    for width in (80, 110):
        shown = terminal_table(verdict, width=width, colour=True, every=True)
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


def test_passes_are_counted_and_all_others_shown_in_full_with_their_limits() -> None:
    failed = founding.finding(
        "growth", "process:backend", "Grew by 700 MiB.", Outcome.FAIL, limit="512 MiB", limit_source="policy"
    )
    verdict = founding.verdict(findings=(*founding.verdict().findings, failed))
    shown = terminal_table(verdict)
    assert re.search(
        r"^growth +process:backend +FAIL +Grew by 700 MiB. Limit: 512 MiB \(from policy\).", shown, re.M
    )
    assert "\n  functional: 9 PASS\n" in shown
    assert "--all shows each" in shown
    assert "isolation.own" not in shown
    every = terminal_table(verdict, every=True)
    assert "isolation.own" in every
    assert "--all" not in every


def test_it_ends_with_what_the_verdict_rests_on() -> None:
    shown = terminal_table(founding.verdict())
    end = " ".join(shown.partition("verdict: PASS")[2].split())
    assert (
        "It rests on 30 min of load on Lemonade at http://127.0.0.1:13305 with qwen-122b-q8: 83 requests"
        in end
    )
    assert "- 30 min can neither prove nor exclude a leak. - Not seen: the kernel log." in end
    old = terminal_table(founding.verdict(rests_on="", caveats=(), not_proven=()))
    assert "rests on" not in old
