"""What a report says: the raw outcome as it was, what overruled it, findings in order, tables of the run."""

from dataclasses import replace

import founding_report as founding
import pytest

from soakproof.judge import Figure, Outcome
from soakproof.judge.finding import Reconsidered
from soakproof.judge.identity import identity
from soakproof.records import Failure
from soakproof.report import render_html, render_junit, render_markdown, terminal_table
from soakproof.report.bounds import MemoryBounds, memory_bounds
from soakproof.report.coverage import coverage_table, evidence_lines
from soakproof.report.excerpts import CHECKS, excerpts, left_out
from soakproof.report.identity import changed_table, fields_table, identity_tables, versions_table
from soakproof.report.raw import raw_section
from soakproof.report.schedule import schedule_table, watch_line
from soakproof.report.traffic import checks_table, compared_table, kinds, traffic_table
from soakproof.report.verdicts import (
    exchanges,
    figure_row,
    groups,
    is_plain,
    limit_beside,
    meta,
    not_comparable,
    overruled,
    passes,
    ranked,
    sentence,
)
from soakproof.testing.evidence import check, event, evidence, exchange, iteration, opened, sample, trace


def test_the_raw_outcome_stays_failed_whatever_the_verdict_says() -> None:
    raw = raw_section(founding.verdict())
    assert raw.outcome == "FAILED"
    assert "1 of 2 raw thresholds failed" in raw.sentence
    assert raw.thresholds.rows[0] == (
        "fail", "prose-rate", founding.THAT, "12.24 tokens/s (lowest)", "3", "3",
        "interactive use; overruled, see below",
    )  # fmt: skip
    assert raw.thresholds.rows[1][0] == "pass"
    assert raw.failed == ("threshold prose-rate",)
    assert raw.failures[0].exchanges[0] == ("long_prose-1-ask", "12.31 tokens/s")


def test_a_refused_reconsideration_stands_beside_its_threshold() -> None:
    entry = Reconsidered(
        threshold="prose-rate",
        applied=False,
        reason="r",
        who="w",
        expires="2026-01-01",
        requires=(),
        why_not="the entry expired",
    )
    verdict = founding.verdict(reconsidered=(entry,))
    assert raw_section(verdict).thresholds.rows[0][-1] == "interactive use; not overruled: the entry expired"
    assert overruled(verdict).startswith(
        "Named by the policy and not overruled: prose-rate (the entry expired)."
    )


def test_a_run_without_raw_json_has_an_unknown_raw_outcome() -> None:
    raw = raw_section(founding.verdict(raw=None))
    assert (raw.outcome, raw.thresholds.rows) == ("UNKNOWN", ())


@pytest.mark.parametrize(
    "document", [{}, {"outcome": None, "thresholds": None}, {"thresholds": [{}], "checks": {}}]
)
def test_a_torn_raw_json_is_read_tolerantly(document: dict[str, object]) -> None:
    raw = raw_section(founding.verdict(raw=document))
    assert raw.outcome == "UNKNOWN"
    assert all(
        row[0] == "unknown" and row[3] == "not measured" and row[4] == "unknown"
        for row in raw.thresholds.rows
    )


def test_raw_failures_that_raw_json_leaves_out_are_counted() -> None:
    threshold = {
        "name": "t",
        "outcome": "fail",
        "failed": 250,
        "failures": [{"exchange": str(n), "value": n} for n in range(100)],
    }
    raw = raw_section(founding.verdict(raw={"outcome": "failed", "thresholds": [threshold]}))
    assert raw.thresholds.rows[0][5] == "250"
    assert (len(raw.failures[0].exchanges), raw.failures[0].left_out) == (20, 230)


UNMEASURED = {"name": "prose-rate", "outcome": "unknown", "reason": "no answer is long enough"}
MET = {"name": "failures", "outcome": "pass"}


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (
            {"thresholds": [MET, UNMEASURED], "ended": {"why": "interrupt"}},
            "Nothing failed, but not every raw threshold could be measured; 0 of 2 raw thresholds failed; "
            "1 could not be measured",
        ),
        ({"thresholds": [MET, {**MET, "outcome": "fail"}]}, "Raw thresholds or checks failed; 1 of 2"),
        ({"thresholds": [UNMEASURED], "exchanges": {"fail": 2}}, "Raw thresholds or checks failed; 0 of 1"),
        ({"thresholds": [MET], "ended": {"why": "guard"}}, "Nothing failed, but the guard ended the load"),
        (
            {"thresholds": [MET], "ended": {"why": "unguarded"}},
            "Nothing failed, but the load was ended before its time, since its guard was lost",
        ),
        ({"thresholds": [MET]}, "The run says that it failed, and names no failure"),
    ],
)
def test_a_run_that_failed_says_by_what(document: dict[str, object], told: str) -> None:
    assert raw_section(founding.verdict(raw={"outcome": "failed", **document})).sentence.startswith(told)


def test_what_was_not_measured_is_not_among_what_failed() -> None:
    verdict = founding.verdict(raw={"outcome": "failed", "thresholds": [MET, UNMEASURED]})
    raw = raw_section(verdict)
    assert (raw.failed, raw.unmeasured) == ((), ("threshold prose-rate",))
    for page in (
        terminal_table(verdict),
        render_markdown(verdict, founding.run()),
        render_html(verdict, founding.run()),
    ):
        words = page.replace("</strong>", "").lower()
        assert "not measured: threshold prose-rate" in words
        assert not any(label in words for label in ("failed: threshold", "what failed"))


@pytest.mark.parametrize(
    ("that", "outcome", "observed", "shown"),
    [
        ("failed_checks count == 0", "fail", 3.0, "3"),
        ("failed_checks count <= 5", "pass", 3.0, "3"),
        ("failed_exchanges count == 0", "pass", 0.0, "0"),
        ("stalls share <= 1 %", "fail", 15.0, "3"),
        ("failed_checks count == 0", "unknown", None, "–"),
        ("generation_rate each >= 17 tokens/s", "pass", 20.0, "0"),
        ("generation_rate p95 >= 17 tokens/s", "fail", 3.0, "–"),
        ("generation_rate p95 >= 17 tokens/s", "pass", 20.0, "–"),
        ("unknown_checks count == 0", "fail", 3.0, "–"),
        ("iterations count >= 5", "fail", 3.0, "–"),
        ("what no version can read", "pass", 3.0, "–"),
    ],
)
def test_failures_are_counted_where_a_threshold_counts_them(
    that: str, outcome: str, observed: float | None, shown: str
) -> None:
    threshold = {"name": "t", "that": that, "outcome": outcome, "observed": observed, "n": 20}
    threshold |= {"failed": 0, "failures": []}
    raw = raw_section(founding.verdict(raw={"outcome": "failed", "thresholds": [threshold]}))
    assert raw.thresholds.rows[0][5] == shown


@pytest.mark.parametrize(
    ("that", "shown"),
    [
        ("generation_rate each >= 2 tokens/s", "59.80 tokens/s (lowest)"),
        ("first_token_time each < 2 s", "59.80 tokens/s (highest)"),
        ("generation_rate median >= 2 tokens/s", "59.80 tokens/s"),
        ("nonsense", "59.80 tokens/s"),
    ],
)
def test_an_observed_value_of_each_says_which_of_them_it_is(that: str, shown: str) -> None:
    threshold = {"name": "t", "outcome": "fail", "that": that, "observed": 59.8, "unit": "tokens/s", "n": 10}
    verdict = founding.verdict(raw={"outcome": "failed", "thresholds": [threshold]}, reconsidered=())
    assert raw_section(verdict).thresholds.rows[0][3] == shown
    assert f"observed {shown}, n 10" in render_junit(verdict)


def test_overruled_says_nothing_where_nothing_was() -> None:
    assert overruled(founding.verdict(reconsidered=())).startswith("Nothing:")
    assert "decided by the release's owner, until 2026-11-30" in overruled(founding.verdict())


def test_findings_come_worst_first_and_what_decides_before_what_does_not() -> None:
    found = [
        founding.finding("a", "1", "."),
        founding.finding("b", "1", ".", Outcome.FAIL, critical=False),
        founding.finding("c", "1", ".", Outcome.INCONCLUSIVE),
        founding.finding("d", "1", "."),
        founding.finding("d", "2", ".", Outcome.FAIL),
    ]
    made = groups(found)
    assert [(g.adjudicator, g.outcome, g.decides) for g in made] == [
        ("d", "FAIL", True), ("b", "FAIL", False), ("c", "INCONCLUSIVE", True), ("a", "PASS", True),
    ]  # fmt: skip
    assert [f.subject for f in made[0].findings] == ["2", "1"]


def test_what_decides_nothing_comes_last_unless_it_failed() -> None:
    found = [
        founding.finding("a", "dark", ".", Outcome.INCONCLUSIVE, critical=False),
        founding.finding("a", "kept", "."),
        founding.finding("raw", "kept", "."),
        founding.finding("raw", "outcome", ".", Outcome.FAIL, critical=False),
    ]
    assert [f.subject for f in ranked(found)] == ["outcome", "kept", "kept", "dark"]
    raw, a = groups(found)
    assert (raw.outcome, raw.note) == ("PASS", "beside it 1 FAIL that cannot decide the verdict")
    assert (a.outcome, a.note) == ("PASS", "beside it 1 INCONCLUSIVE that cannot decide the verdict")
    (alone,) = groups(found[:1])
    assert (alone.outcome, alone.note) == ("INCONCLUSIVE", "cannot decide the verdict")


def test_the_sentence_names_what_failed() -> None:
    found = [founding.finding("functional", f"c{n}", ".", Outcome.FAIL) for n in range(6)]
    told = sentence(founding.verdict(findings=tuple(found)))
    assert "6 FAIL (functional c0, functional c1, functional c2, functional c3 and 2 more)" in told


def test_everything_that_failed_is_listed_beside_the_raw_outcome() -> None:
    document = {
        "outcome": "failed",
        "thresholds": [{"name": "rate", "outcome": "unknown"}, {"name": "kept", "outcome": "pass"}],
        "checks": {"roll.order": {"fail": 57}, "roll.length": {"pass": 3, "fail": 0}},
        "exchanges": {"fail": 3, "by_failure": {"stall": 2, "cut": 1}},
        "iterations": {"roll": {"broken": 1}},
    }
    verdict = founding.verdict(raw=document)
    assert raw_section(verdict).unmeasured == ("threshold rate",)
    assert raw_section(verdict).failed == (
        "57 x roll.order",
        "3 failed exchanges (1 cut, 2 stall)",
        "1 broken iteration of roll",
    )
    html, markdown = render_html(verdict, founding.run()), render_markdown(verdict, founding.run())
    shown = (html.partition('id="overruled"')[0], markdown.partition("## What overruled")[0])
    assert all(text.count("57 x roll.order") for text in (*shown, terminal_table(verdict)))


def test_a_group_has_a_question_only_where_its_findings_share_it() -> None:
    same = [founding.finding("a", s, ".", question="Why?") for s in "12"]
    assert groups(same)[0].question == "Why?"
    assert groups([*same, founding.finding("a", "3", ".", question="How?")])[0].question == ""


def test_the_sentence_counts_what_decides_and_what_does_not() -> None:
    assert (
        sentence(founding.verdict())
        == "13 findings of 5 adjudicators: 12 PASS; 1 FAIL (raw prose-rate) that cannot decide it."
    )
    assert "nothing could be concluded" in sentence(founding.verdict(findings=()))


def test_a_figure_shows_its_baseline_and_why_it_is_missing() -> None:
    assert figure_row(Figure(name="rate", value=12.29, unit="tokens/s", n=3, baseline=11.86)) == (
        "rate", "12.29 tokens/s", "3", "11.86 tokens/s (+3.6 %)", "",
    )  # fmt: skip
    assert figure_row(Figure(name="x", value=None, note="no draft model")) == (
        "x",
        "not measured",
        "",
        "",
        "no draft model",
    )
    assert figure_row(Figure(name="x", value=None))[4] == "no reason was given"
    assert figure_row(Figure(name="x", value=None, n=0))[4] == "there was nothing to measure"


def test_meta_tells_limit_strength_fault_weight_and_span() -> None:
    finding = founding.finding(
        "a", "s", ".", limit=">= 3", limit_source="policy", strength="weak", fault="host", critical=False,
        span=(1.0, 9.0), figures=(Figure(name="x", value=2.0, n=4),),
    )  # fmt: skip
    assert is_plain(finding)
    assert dict(meta(finding)) == {
        "x": "2 (n 4)",
        "Limit": ">= 3 (from policy)",
        "Strength": "weak",
        "Whose fault": "host",
        "Weight": "not critical: cannot decide the verdict",
        "Samples": "1 to 9 s of the run",
    }


def test_a_limit_that_is_not_told_has_no_source_either() -> None:
    assert meta(founding.finding("a", "s", ".", limit_source="policy")) == ()


def test_traffic_counts_ends_failures_and_medians() -> None:
    lost = exchange("lost", kind="a", outcome="fail", failure=Failure.STALL)
    open_ = opened(exchange("open", kind="a"))
    run = evidence(
        [exchange(f"ok{n}", at=n, took=2.0, first=0.1, kind="a") for n in range(3)],
        lost, open_, iteration("a"), iteration("a", 2, end="failed"), exchange("b1", kind="b", stream=False),
    )  # fmt: skip
    rows = {row[0]: row for row in traffic_table(run).rows}
    assert rows["a"][:5] == (
        "a",
        "1 completed, 1 failed",
        "3 of 5 ok",
        "1 never closed, 1 stall",
        "0.200 s (n 3)",
    )
    assert rows["a"][5:] == ("not measured", "not measured")
    assert rows["b"][1:5] == ("none", "1 of 1 ok", "none", "not measured")
    assert traffic_table(evidence()).empty


def test_kinds_keep_the_plans_order() -> None:
    run = evidence(exchange(kind="z"), exchange(kind="a"), plan={"kinds": [{"name": "m"}, {"name": "a"}]})
    assert kinds(run) == ("m", "a", "z")


def test_checks_are_counted_by_kind_with_known_limits_apart() -> None:
    run = evidence(
        check("c1", kind="a"), check("c1", kind="a", grade="fenced"),
        check("c2", "fail", kind="b"), check("c3", "fail", kind="b", grade="known: front 11.7"),
        check("c4", "unknown", kind="a"),
    )  # fmt: skip
    assert checks_table(run).rows == (
        ("fail", "b", "c2", "0", "1", "0", "0", ""),
        ("unknown", "a", "c4", "0", "0", "1", "0", ""),
        ("known", "b", "c3", "0", "0", "0", "1", "1 known: front 11.7"),
        ("pass", "a", "c1", "2", "0", "0", "0", "1 pass: fenced"),
    )


def test_medians_stand_beside_the_baselines() -> None:
    rows = {row[:2]: row[2:] for row in compared_table(founding.run(), founding.baseline()).rows}
    assert rows["long_prose", "Generation, median"] == (
        "11.86 tokens/s (n 3)",
        "12.29 tokens/s (n 3)",
        "+3.6 %",
    )
    assert compared_table(founding.run(), None).empty == "Nothing to compare with."
    assert compared_table(evidence(), evidence()).rows == ()


def test_a_baseline_that_is_not_comparable_is_not_set_beside() -> None:
    unfit = founding.finding(
        "identity", "baseline", "x: not comparable: model differs.", Outcome.INCONCLUSIVE
    )
    assert (
        not_comparable(founding.verdict(findings=(unfit,)))
        == "Not set side by side: x: not comparable: model differs."
    )
    assert not_comparable(founding.verdict(findings=(unfit,), baseline=None)) == ""
    assert not_comparable(founding.verdict()) == ""


def test_excerpts_are_at_most_three_a_check_and_bounded() -> None:
    run = evidence(
        [exchange(f"e{n}", at=n, text=f"answer {n} " * 400) for n in range(6)],
        [
            check("bad", "fail", at=n, exchanges=(f"e{n}", f"e{n + 1}"), reason="foreign marker")
            for n in range(5)
        ],
        check("fine", exchanges=("e5",)),
        check("limit", "fail", grade="known: front", exchanges=("e5",)),
        check("lost", "fail", exchanges=("gone",)),
    )
    found = excerpts(run)
    assert [(e.check, e.exchange) for e in found] == [
        ("bad", "e0"),
        ("bad", "e1"),
        ("bad", "e2"),
        ("lost", "gone"),
    ]
    assert all(len(e.text) < 600 for e in found)
    assert found[0].what == "answer, 3,600 characters"
    assert "foreign marker" in found[0].about
    assert found[-1].what == "this exchange is not in the evidence"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"text": "", "reasoning": "hm"}, "no answer; reasoning, 2 characters"),
        ({"text": "", "error_body": "{}"}, "error"),
        ({"text": "", "text_digest": "d"}, "its text was not kept"),
        ({"text": ""}, "no text"),
    ],
)
def test_an_excerpt_says_what_there_is_instead_of_an_answer(more: dict[str, str], what: str) -> None:
    run = evidence(exchange("e", **more), check("bad", "fail", exchanges=("e",)))
    assert excerpts(run)[0].what == what


def test_identity_flattens_and_calls_missing_unknown() -> None:
    table = fields_table({"a": {"b_bytes": 2**30, "c": None}, "d": ["x", 1], "e": False, "f": {}}, "none")
    assert table.rows == (
        ("a.b_bytes", "1 GiB"),
        ("a.c", "unknown"),
        ("d", "x 1"),
        ("e", "no"),
        ("f", "none"),
    )
    titles = [title for title, _ in identity_tables(founding.verdict(), founding.run())]
    assert titles == ["Identity, as it is compared", "Target, as it was read", "Host", "Plan"]
    assert ("run.program", "soakproof 0.1.0") in versions_table(founding.verdict(), founding.run()).rows


def test_what_is_inside_a_value_is_told_in_words() -> None:
    table = fields_table({"kind_options": {"mine": ["recall", {"between": 2, "hard": True}]}}, "none")
    assert table.rows == (("kind_options.mine", "recall between 2, hard yes"),)


def test_changed_fields_show_was_and_is() -> None:
    rows = changed_table(founding.verdict().changed, "x").rows
    assert rows[0] == ("build", "under test", "b11380", "b11434")
    assert rows[2] == ("power profile", "noted", "unknown", "performance")
    assert changed_table((), None).empty == "Nothing to compare with."


def test_launch_arguments_that_changed_are_a_row_each() -> None:
    was, now = ({"--parallel": "2"}, {"--parallel": "4", "--jinja": "given"})
    parts = [
        {"name": "--jinja", "was": "not there", "is": "given"},
        {"name": "--parallel", "was": "2", "is": "4"},
    ]
    change = {"field": "launch_arguments", "role": "under_test", "was": was, "is": now, "parts": parts}
    assert changed_table([change], "x").rows == (
        ("launch_arguments --jinja", "under test", "not there", "given"),
        ("launch_arguments --parallel", "under test", "2", "4"),
    )


def test_each_field_of_the_identity_says_where_it_was_read() -> None:
    kept = {
        "target.build": "GET http://x/props",
        "target.launch_command": "/proc/7/cmdline",
        "host.os": "uname",
    }
    run = evidence(
        run={"provenance": kept, "host": {"os": "Linux", "rocm": None}},
        target={"launch_command": ["llama-server", "-c", "4096"]},
    )
    verdict = founding.verdict(identity=identity(run))
    tables = [table for _, table in identity_tables(verdict, run)[:3]]
    compared, target, host = ({row[0]: row[1:] for row in table.rows} for table in tables)
    assert compared["backend_build"] == ("b1", "GET http://x/props")
    assert compared["launch_arguments.--ctx-size"] == ("4096", "/proc/7/cmdline")
    assert compared["slots"] == ("2", "not recorded")
    assert target["build"] == ("b1", "GET http://x/props")
    assert host == {"os": ("Linux", "uname"), "rocm": ("unknown", "")}


def test_coverage_tells_gaps_and_sources_that_are_silent() -> None:
    run = evidence(
        trace("memory", 10, available_bytes=1), trace("memory", 5, start=40, available_bytes=1),
        sample("psi", 3, state="denied", reason="not root"), sample("psi", 4, state="timeout"),
    )  # fmt: skip
    rows = {row[0]: row[1:] for row in coverage_table(run).rows}
    assert rows["memory"] == ("15", "15", "none", "0 to 44", "31.0")
    assert rows["psi"] == ("2", "0", "1 denied, 1 timeout: not root", "3 to 4", "unknown")
    assert coverage_table(evidence()).empty


def test_evidence_lines_tell_seals_nodes_and_the_watchs_account() -> None:
    ended = event("watch_ended", 60, ticks_due=60, ticks_had=59, reason="")
    told = evidence_lines(evidence(exchange(), ended))
    assert told[0] == "Sealed by the run itself, and unchanged since."
    assert told[-1] == "The watch ended in good order (no reason told)."
    assert evidence_lines(evidence(recovered=True))[0].startswith("Sealed after a crash")
    broken = evidence_lines(evidence(seal_problems=tuple("abcdefghijkl"), problems=("line 3 is torn",)))
    assert broken[0] == "NOT as it was sealed: a; b; c; d; e; f; g; h; i; j; and 2 more."
    assert "Not readable: line 3 is torn." in broken


def test_the_watchs_account_is_a_table_of_what_it_means() -> None:
    figures = {"due": 60, "had": 59, "missed": 1, "late_max_ms": 12.5}
    ended = event(
        "watch_ended",
        60,
        reason="stop",
        ticks_due=60,
        ticks_had=60,
        ticks_missed=0,
        late_max_ms=3.0,
        sources={"slots": figures, "memory": {"due": 5}, "odd": "?"},
        states={"memory": {"value": 60}},
        incidents=1,
        kernel_lines_not_kept=2,
    )
    table = schedule_table(evidence(ended))
    assert table.rows == (
        ("the watch itself", "60", "60", "0", "3"),
        ("memory", "5", "unknown", "unknown", "unknown"),
        ("odd", "unknown", "unknown", "unknown", "unknown"),
        ("slots", "60", "59", "1", "12.50"),
    )
    assert watch_line(evidence(ended)) == (
        "The watch ended in good order (stop); 1 incident in the kernel's log; "
        "2 lines of that log beyond what it keeps."
    )
    for told in (render_markdown, render_html):
        shown = told(founding.verdict(), evidence(ended))
        assert "{'" not in shown
        assert "due&#39;" not in shown


def test_without_the_watchs_last_word_there_is_no_table() -> None:
    assert not schedule_table(evidence()).rows
    assert watch_line(evidence()) == schedule_table(evidence()).empty


def test_failing_checks_that_are_not_shown_are_counted() -> None:
    """Thirty-nine failures of nine checks: three of each are shown, and the rest is not passed over."""
    failed = [check(f"c{n % 9}", "fail", iteration=n, exchanges=(f"x{n}",)) for n in range(39)]
    assert len(excerpts(evidence(failed))) == 27
    told = left_out(evidence(failed))
    assert told.startswith("12 more failures not shown: 2 of c0, 2 of c1, 2 of c2, 1 of c3, ")
    assert told in render_markdown(founding.verdict(), evidence(failed))
    assert told in render_html(founding.verdict(), evidence(failed))
    assert left_out(evidence(failed[:27])) == ""
    many = [check(f"c{n}", "fail", iteration=n) for n in range(CHECKS + 5)]
    assert left_out(evidence(many)) == "5 more failures not shown: 5 of 5 other checks."


def test_a_finding_that_names_as_many_exchanges_as_it_may_says_that_they_are_the_first() -> None:
    def named(n: int) -> str:
        return exchanges(founding.finding("a", "b", "c", exchanges=tuple(f"x{i}" for i in range(n))))

    assert [named(1), named(19), named(20)] == ["1 exchange", "19 exchanges", "the first 20 exchanges"]


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.ERROR])
def test_what_is_no_pass_is_told_with_its_limit(outcome: Outcome) -> None:
    found = founding.finding(
        "growth", "backend", "Grew by 113 MiB.", outcome, limit="512 MiB of growth", limit_source="policy"
    )
    assert limit_beside(found) == "Limit: 512 MiB of growth (from policy)."
    assert limit_beside(replace(found, limit="")) == ""
    assert limit_beside(replace(found, outcome=Outcome.PASS)) == ""
    long = replace(found, answer="word " * 500)
    assert "512 MiB of growth" in terminal_table(founding.verdict(findings=(long,)), width=200)


def test_passes_are_counted_by_adjudicator() -> None:
    found = [founding.finding("a", str(n), ".", critical=n > 1) for n in range(5)]
    found += [founding.finding("b", "x", ".", Outcome.FAIL), founding.finding("c", "x", ".", critical=False)]
    assert list(passes(found)) == ["a: 3 PASS, 2 (PASS)", "c: 1 (PASS)"]


def test_memory_bounds_are_read_from_the_findings() -> None:
    found = founding.finding("memory", "gtt: amdgpu:card1", ".", limit="at most 90.00 GiB")
    bounds = memory_bounds(founding.verdict(findings=(*founding.findings(), found)))
    assert bounds == MemoryBounds(18 * 2**30, 90 * 2**30)
    odd = founding.finding("memory", "available", ".", limit="at least some")
    assert memory_bounds(founding.verdict(findings=(odd,))) == MemoryBounds()
