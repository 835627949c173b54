"""Evidence: touched is an error, incomplete is inconclusive, whole is a pass."""

import pytest

from soakproof.judge import Outcome
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, kernel, opened, sample

COUNTED = {"locust": {"requests": 1, "failures": 0}}


def test_whole_evidence_passes_everywhere() -> None:
    found = adjudicate("evidence", evidence(exchange(), kernel(), run=COUNTED))
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert list(found) == ["seal", "lines", "nodes", "exchanges", "kernel log", "totals", "books"]


@pytest.mark.parametrize(
    "problem",
    [
        "evidence/load/exchanges.jsonl: changed: its digest is not the sealed one",
        "run.json: missing",
        "evidence/load/extra.jsonl: not in the seal",
    ],
)
def test_a_touched_file_is_an_error_that_names_it(problem) -> None:
    found = adjudicate("evidence", evidence(exchange(), seal_problems=(problem,)))["seal"]
    assert (found.outcome, found.answer) == (Outcome.ERROR, f"Not as it was sealed: {problem}.")


def test_an_unsealed_run_is_inconclusive() -> None:
    problem = "SEAL: missing, so the run is not sealed"
    found = adjudicate("evidence", evidence(exchange(), seal_problems=(problem,)))["seal"]
    assert found.outcome is Outcome.INCONCLUSIVE


def test_a_touched_file_is_worse_than_a_missing_seal() -> None:
    problems = ("SEAL: missing, so the run is not sealed", "evidence/load/checks.jsonl: missing")
    found = adjudicate("evidence", evidence(exchange(), seal_problems=problems))["seal"]
    assert found.outcome is Outcome.ERROR
    assert "checks.jsonl" in found.answer


def test_a_recovered_run_is_inconclusive() -> None:
    found = adjudicate("evidence", evidence(exchange(), recovered=True))["seal"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "recover" in found.answer


def test_a_run_that_never_ended_is_inconclusive() -> None:
    found = adjudicate("evidence", evidence(exchange(), run={"state": "running"}))["seal"]
    assert found.outcome is Outcome.INCONCLUSIVE


def test_torn_lines_are_inconclusive_and_bounded() -> None:
    torn = tuple(f"evidence/load/checks.jsonl: line {i} is torn" for i in range(5))
    found = adjudicate("evidence", evidence(exchange(), problems=torn))["lines"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer.endswith("line 2 is torn; and 2 more.")


def test_a_missing_node_is_inconclusive() -> None:
    found = adjudicate("evidence", evidence(exchange(), nodes=("load",)))["nodes"]
    assert (found.outcome, found.answer) == (Outcome.INCONCLUSIVE, "No evidence of watch.")


def test_numbered_load_nodes_stand_for_load() -> None:
    run = evidence(exchange(), nodes=("load-1", "load-2", "watch"))
    assert adjudicate("evidence", run)["nodes"].outcome is Outcome.PASS


def test_unclosed_never_opened_and_doubled_requests_are_named() -> None:
    a, b = exchange("a"), exchange("b")
    run = evidence(opened(exchange("lost")), opened(a), a, a, b, unopened=True)
    found = adjudicate("evidence", run)["exchanges"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer == "Of 2 requests: 1 never closed, 1 never opened, 1 closed more than once."
    assert found.exchanges == ("lost", "b", "a")


def test_no_request_at_all_is_inconclusive() -> None:
    assert adjudicate("evidence", evidence())["exchanges"].outcome is Outcome.INCONCLUSIVE


def test_a_gap_in_the_kernel_log_is_inconclusive() -> None:
    found = adjudicate("evidence", evidence(kernel(), kernel(gap=40), kernel(gap=2)))["kernel log"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer == "42 records of the kernel log were lost in 2 gaps."


def test_a_kernel_log_that_was_not_seen_has_no_known_gaps() -> None:
    denied = sample("kernel_log", state="denied", reason="needs CAP_SYSLOG")
    found = adjudicate("evidence", evidence(exchange(), denied))["kernel log"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    quiet = adjudicate("evidence", evidence(exchange(), sample("kernel_log", reader="kmsg")))["kernel log"]
    assert (quiet.outcome, quiet.answer) == (Outcome.PASS, "It has no gap.")


@pytest.mark.parametrize(
    ("requests", "failures", "outcome"),
    [(2, 1, Outcome.PASS), (3, 1, Outcome.INCONCLUSIVE), (2, 0, Outcome.INCONCLUSIVE)],
)
def test_locusts_own_count_must_agree(requests, failures, outcome) -> None:
    load = exchange("a"), exchange("b", outcome="fail", failure="reset")
    told = {"locust": {"requests": requests, "failures": failures}}
    found = adjudicate("evidence", evidence(load, exchange("g", node="gates", outcome="fail"), run=told))
    assert found["totals"].outcome is outcome
    assert f"{requests} requests, {failures} failed" in found["totals"].answer or outcome is Outcome.PASS


def test_a_request_cut_off_by_the_end_is_no_failure_of_locusts() -> None:
    run = evidence(exchange(outcome="unknown", failure="stopped"), run=COUNTED)
    assert adjudicate("evidence", run)["totals"].outcome is Outcome.PASS


def test_numbers_that_were_reset_in_the_web_ui_do_not_count_against_the_evidence() -> None:
    failed = exchange("b", outcome="fail", failure="reset")
    run = evidence(exchange("a"), failed, event("stats_reset", 5, node="load"), run=COUNTED)
    assert adjudicate("evidence", run)["totals"].outcome is Outcome.PASS


def test_an_unknown_count_is_told_and_decides_nothing() -> None:
    found = adjudicate("evidence", evidence(exchange()))["totals"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
