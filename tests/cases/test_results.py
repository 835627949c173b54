"""Faults of load tools: exit codes, steps of clocks, lost workers, late sending, runs without a success."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import NOW, fails, of, verdict
from rundirs import judgeable, orphaned

from soakproof.catalog import Catalog
from soakproof.clock import nanoseconds
from soakproof.errors import EXIT_ERROR
from soakproof.judge import METRICS, Evidence, Outcome
from soakproof.judgement import evidence_of, judge_loaded
from soakproof.metrics import measure, values
from soakproof.plan import Threshold
from soakproof.raw import raw_result, summary_lines
from soakproof.records import Exchange, Failure, Opened, Record
from soakproof.report import render_html, render_json, render_junit, render_markdown, terminal_table
from soakproof.run import Run, load, recover, seal_abandoned
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, iteration
from soakproof.watch.clock_steps import ClockSteps

ENDED = {"why": "time", "reason": ""}


def document(name: str) -> Any:
    return json.loads((INPUTS / name).read_text())


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (INPUTS / name).read_text().split("\n") if line]


# -- 69: the exit code


def of_case(case: dict[str, Any]) -> list[Record]:
    """The records that such a run leaves."""
    requests, failures = case.get("requests", 0), case.get("failures", 0)
    made: list[Record] = [exchange(f"ok-{n}", at=n) for n in range(requests - failures)]
    made += [
        exchange(f"bad-{n}", at=n, outcome="fail", failure=Failure.HTTP_STATUS, reason="500")
        for n in range(failures)
    ]
    made += [
        iteration("prose", n, end="broken", reason="it raised") for n in range(case.get("exceptions", 0))
    ]
    if "hangs" in case["name"]:
        made += [
            exchange(f"hung-{n}", at=n, outcome="unknown", failure=Failure.STOPPED, first=None)
            for n in range(3)
        ]
    return made


EXITS = document("69-exit-code-cases.json")["cases"]


@pytest.mark.case(69)
@pytest.mark.parametrize("case", EXITS, ids=[case["name"] for case in EXITS])
@pytest.mark.parametrize("beside", [0, 7])
def test_every_end_has_an_exit_code_of_ours(case: dict[str, Any], beside: int) -> None:
    """``beside``: good requests beside those of the case, which must not hide what it shows."""
    allowed = Threshold(name="few", that="failed_exchanges share <= 1 %")
    records = of_case(case)
    if "hangs" in case["name"] or case["name"] == "all failed" or "greenlet" in case["name"]:
        beside = 0  # here nothing at all went well; a fault in a greenlet is of test_sessions.py
    records += [exchange(f"good-{n}", at=n) for n in range(beside)]
    raw = raw_result([allowed], records, ended=ENDED)
    assert (raw["exit_code"] == 0) == (case["must_exit"] == "zero")
    if "nothing measured" in case["must_exit"]:
        assert (raw["outcome"], raw["exit_code"]) == ("nothing", EXIT_ERROR)


# -- 70: clocks


@pytest.mark.case(70)
@given(offset=st.floats(-1e6, 1e6), start=st.floats(0, 1e5))
@settings(max_examples=20)
def test_durations_are_of_the_monotonic_clock_and_steps_of_the_other_are_told(
    offset: float, start: float
) -> None:
    told = [
        {**row, "wall": row["wall"] + offset, "mono": row["mono"] + start}
        for row in rows("70-clock-steps.jsonl")
    ]
    zero = told[0]["mono"]
    begun, first, last, ended = (nanoseconds(row["mono"] - zero) for row in told[:4])
    asked = exchange(
        "a",
        at=0,
        took=ended / 1e9,
        first=None,
        first_token_ns=first,
        last_token_ns=last,
        sent_ns=begun,
        due_ns=begun,
    )
    assert values("first_token_time", [asked]) == [pytest.approx(1.5)]
    assert values("total_time", [asked]) == [pytest.approx(3.0)]
    steps, events = ClockSteps(), []
    for row in told:
        step = steps.see(nanoseconds(row["wall"]), nanoseconds(row["mono"]))
        if step is not None:
            events.append(event("clock_step", row["mono"] - zero, step_s=round(step, 3)))
    assert [round(e.details["step_s"]) for e in events] == [-3600, 103596]
    found = adjudicate("evidence", evidence(asked, events))["clock"]
    assert not found.critical
    assert "stepped 2 times: -3600.000 s at 1.9 s" in found.answer


@pytest.mark.case(70)
@given(sent=st.integers(0, 10**12), first=st.integers(-(10**12), 10**12))
@settings(max_examples=50)
def test_a_time_that_lies_before_its_beginning_is_none_and_never_0(sent: int, first: int) -> None:
    asked = exchange("a", first=None, sent_ns=sent, due_ns=sent, first_token_ns=first, done_ns=first)
    found = values("first_token_time", [asked])
    assert found == ([(first - sent) / 1e9] if first >= sent else [])


# -- 74: a worker that is lost


@pytest.mark.case(74)
def test_a_lost_worker_spoils_the_measurement_and_its_records_survive(tmp_path: Path) -> None:
    told = rows("74-worker-missing.jsonl")
    missing = next(row for row in told if row.get("state") == "missing")
    run = Run.create(
        tmp_path, "workers", evidence(nodes=("load-1", "load-2", "watch")).run | {"state": "running"}
    )
    for name, until in (("load-1", 75), ("load-2", missing["t_s"])):
        for at in range(0, until, 5):
            run.writer(name).write(exchange(f"{name}-{at}", at=at, node=name, kind="prose"))
    run.writer("watch")
    for name in ("load-1", "watch"):
        run.writer(name).seal()
    orphaned(run.path)
    assert seal_abandoned(run.path) == ["evidence/load-2: sealed"]
    recover(run.path)
    loaded = load(run.path)
    left = [r for r in loaded.records if isinstance(r, Exchange) and r.node == "load-2"]
    assert len(left) == 12
    assert max(e.sent_ns for e in left) == nanoseconds(55)
    judged, _ = judge_loaded(loaded, None, "default", Catalog(INPUTS), NOW)
    assert fails(judged) == set()  # not the server's failure
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert of(judged, "evidence", "seal").fault == "ours"


@pytest.mark.case(74)
def test_a_node_that_left_nothing_is_missed() -> None:
    found = adjudicate("evidence", evidence(exchange("a"), nodes=("watch",)))["nodes"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "load" in found.answer


# -- 75: what is missing is no pass


@pytest.mark.case(75)
def test_a_run_without_its_summary_is_no_success_whatever_its_process_said(tmp_path: Path) -> None:
    case = document("75-no-summary.json")
    assert (case["exit_code_of_run"], case["summary_file"]) == (0, None)
    whole = judgeable(tmp_path, exchange("a"), iteration())
    lost = judgeable(tmp_path, exchange("a"), iteration())
    (lost / "raw.json").unlink()
    judged, _ = judge_loaded(load(lost), None, "default", Catalog(INPUTS), NOW)
    assert judged.outcome is Outcome.ERROR  # it was sealed with one
    unsealed = judgeable(tmp_path, exchange("a"), iteration())
    for name in ("raw.json", "SEAL"):
        (unsealed / name).unlink()
    judged, _ = judge_loaded(load(unsealed), None, "default", Catalog(INPUTS), NOW)
    assert judged.outcome is Outcome.INCONCLUSIVE
    assert "no raw outcome" in of(judged, "raw", "outcome").answer
    beside, _ = judge_loaded(load(whole), load(lost), "release", Catalog(INPUTS), NOW)
    assert beside.outcome is not Outcome.PASS
    assert of(beside, "identity", "baseline").outcome is not Outcome.PASS


@pytest.mark.case(75)
def test_a_baseline_that_is_not_there_ends_the_command_and_writes_no_verdict(tmp_path: Path) -> None:
    run = judgeable(tmp_path, exchange("a"), iteration())
    command = [
        sys.executable,
        "-m",
        "soakproof",
        "adjudicate",
        str(run),
        "--baseline",
        str(tmp_path / "none"),
    ]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 64
    assert not (run / "verdicts").exists()


# -- 79: sent later than intended


def sent_late(every: float = 1.0) -> list[Exchange]:
    """The case's requests; ``every`` stretches how late each was sent."""
    return [
        exchange(
            f"r{n}",
            due=row["intended_s"],
            at=row["intended_s"] + every * (row["sent_s"] - row["intended_s"]),
            took=row["done_s"] - row["sent_s"],
            iteration=n,
        )
        for n, row in enumerate(document("79-schedule-slip.json")["requests"])
    ]


@pytest.mark.case(79)
def test_a_tester_behind_its_schedule_judges_nobody_and_shows_both_latencies() -> None:
    late = sent_late()
    found = adjudicate("generator", evidence(late, duration=80))["schedule"]
    figures = {f.name: f.value for f in found.figures}
    assert (found.outcome, found.fault, found.critical) == (Outcome.INCONCLUSIVE, "ours", True)
    assert figures["total time p99 since sent"] == pytest.approx(0.19)
    assert figures["total time p99 since due"] == pytest.approx(40.19)
    assert found.exchanges
    judged = verdict(evidence(late, duration=80))
    assert fails(judged) == set()
    assert judged.outcome is Outcome.INCONCLUSIVE


@pytest.mark.case(79)
@given(slower=st.floats(0, 0.02))
@settings(max_examples=10)
def test_a_schedule_that_is_kept_is_no_matter(slower: float) -> None:
    found = adjudicate("generator", evidence(sent_late(slower), duration=80))["schedule"]
    assert found.outcome is Outcome.PASS
    figures = {f.name: f.value for f in found.figures}
    assert figures["total time p99 since due"] == pytest.approx(0.19 + 40 * slower, abs=0.01)


# -- 80: nothing but failures, and failures among successes

CLASSES = {"http_400": Failure.CONFIGURATION, "timeout": Failure.TOTAL_TIMEOUT}


def result(row: dict[str, Any]) -> Exchange:
    """A tool's result as our record of it."""
    failure = CLASSES.get(row["error_class"])
    total, first = row.get("total_s") or 0.1, row["ttft_s"]
    return exchange(
        f"r{row['seq']}",
        at=row["seq"] * 400,
        took=total,
        first=first and first / total,
        iteration=row["seq"],
        outcome="ok" if row["ok"] else "fail",
        failure=failure,
        status=row.get("http_status", 200),
        completion_tokens=row["tokens"],
        token_events=row["tokens"] or 0,
        error_body=row.get("body"),
        reason=str(row["error_class"] or ""),
    )


def everything_rendered(run: Evidence) -> str:
    judged = verdict(run)
    texts = [
        render_markdown(judged, run),
        render_html(judged, run),
        str(render_json(judged)),
        render_junit(judged),
        terminal_table(judged),
    ]
    return "\n".join(texts)


def no_numbers_of_nothing(text: str) -> None:
    assert not re.search(r"(?<![A-Za-z])(nan|inf|-inf)(?![A-Za-z])", text, re.IGNORECASE)


CANCELLED = [
    exchange(f"c{n}", at=n, cancelled_ns=nanoseconds(n + 0.5), cancel_planned="decode: after 20 token events")
    for n in range(5)
]
UNFINISHED: list[Record] = [
    Opened(
        id=f"u{n}", node="load", scenario="prose", iteration=n, role="ask", seed=n, due_ns=n, sent_ns=n,
        model_asked="m", stream=True, max_tokens=9, prompt_chars=1, prompt_digest="",
    )
    for n in range(3)
]  # fmt: skip


@pytest.mark.case(80)
@pytest.mark.parametrize(
    "records",
    [
        [],
        [result(row) for row in rows("80-all-failed.results.jsonl")],
        [result(rows("80-mixed-failed.results.jsonl")[1])],
        CANCELLED,
        UNFINISHED,
        [exchange("odd", outcome="fail", failure=Failure.PROTOCOL, parse_errors=3, reason="no JSON")],
    ],
    ids=["none", "all failed", "one", "all cancelled", "unfinished", "parse errors"],
)
def test_a_report_of_any_run_has_no_number_of_nothing(records: list[Record]) -> None:
    raw = raw_result([Threshold(name="wait", that="first_token_time p95 <= 2s")], records, ended=ENDED)
    run = evidence(records, raw=raw)
    no_numbers_of_nothing(everything_rendered(run))
    no_numbers_of_nothing("\n".join(summary_lines(raw)))
    assert verdict(run).outcome is not Outcome.PASS


@pytest.mark.case(80)
def test_latencies_are_of_successes_alone_with_their_number() -> None:
    mixed = [result(row) for row in rows("80-mixed-failed.results.jsonl")]
    ok = [e for e in mixed if e.outcome == "ok"]
    assert len(ok) == 30
    assert set(values("total_time", mixed)) == {2.0}
    assert len(values("first_token_time", mixed)) == 30
    thresholds = [
        Threshold(name="wait", that="first_token_time p95 <= 2s"),
        Threshold(name="total", that="total_time max <= 10s"),
    ]
    raw = raw_result(thresholds, mixed, ended=ENDED)
    assert [(t["outcome"], t["n"]) for t in raw["thresholds"]] == [("pass", 30), ("pass", 30)]
    assert raw["exchanges"]["by_failure"] == {"total_timeout": 10}
    assert (raw["outcome"], raw["exit_code"]) == ("failed", 1)
    judged = verdict(evidence(mixed, raw=raw, duration=16_000))
    assert "10 exchanges of 40 failed" in of(judged, "functional", "exchanges: total_timeout").answer


@pytest.mark.case(80)
def test_a_parse_error_is_a_failure_and_no_latency() -> None:
    bad = exchange("odd", outcome="fail", failure=Failure.PROTOCOL, parse_errors=3, reason="no JSON")
    raw = raw_result([], [bad, exchange("good")], ended=ENDED)
    assert raw["outcome"] == "failed"
    assert raw["exchanges"]["by_failure"] == {"protocol": 1}
    for name in METRICS:
        assert measure(name, [bad]) == []


@pytest.mark.case(75, 80)
def test_an_abandoned_empty_run_can_be_judged(tmp_path: Path) -> None:
    run = Run.create(tmp_path, "empty", evidence().run | {"state": "running"})
    for node in ("load", "watch"):
        run.writer(node)
    orphaned(run.path)
    recover(run.path)
    empty = evidence_of(load(run.path))
    no_numbers_of_nothing(everything_rendered(empty))
    assert verdict(empty).outcome is Outcome.INCONCLUSIVE
