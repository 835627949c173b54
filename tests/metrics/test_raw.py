"""The raw result: its outcome on every path, its document, its lines, and its cost."""

import time

import pytest

from soakproof.plan import Threshold
from soakproof.raw import KEPT, SHOWN, raw_result, summary_lines
from soakproof.records import Failure
from soakproof.run import to_json
from soakproof.testing.evidence import check, event, exchange, iteration, opened, sample

TIME = {"why": "time", "reason": ""}
RATE = Threshold(name="prose-rate", that="generation_rate{long_prose} each >= 17 tokens/s", why="v12")


def prose(n: int, rate: float):
    timings = {"predicted_n": 768, "predicted_ms": 768_000 / rate}
    return [exchange(f"p{i}", timings=timings) for i in range(n)]


def outcome(*records, thresholds=(), ended=TIME):
    raw = raw_result(thresholds, records, ended=ended)
    return raw["outcome"], raw["exit_code"]


def test_a_clean_run() -> None:
    raw = raw_result([RATE], [*prose(3, 18), check("c"), iteration(), sample(), event("x")], ended=TIME)
    assert (raw["outcome"], raw["exit_code"]) == ("clean", 0)
    assert raw["checks"] == {"c": {"pass": 1, "fail": 0, "unknown": 0, "known": 0}}
    assert raw["exchanges"] == {"opened": 3, "closed": 3, "ok": 3, "fail": 0, "unknown": 0, "by_failure": {}}
    assert raw["iterations"] == {"long_prose": {"completed": 1, "failed": 0, "stopped": 0, "broken": 0}}
    assert raw["ended"] == TIME
    assert raw["first_failures"] == []
    assert summary_lines(raw)[4:] == [
        "  threshold prose-rate met: generation_rate{long_prose} each >= 17 tokens/s: "
        "lowest observed 18 tokens/s (n=3)"
    ]
    assert b"NaN" not in to_json(raw)


def test_the_founding_case_keeps_its_three_failures_in_sight() -> None:
    raw = raw_result([RATE], [*prose(3, 12.29), check("c"), iteration()], ended=TIME)
    assert (raw["outcome"], raw["exit_code"]) == ("failed", 1)
    (threshold,) = raw["thresholds"]
    assert threshold == {
        "name": "prose-rate",
        "that": "generation_rate{long_prose} each >= 17 tokens/s",
        "why": "v12",
        "outcome": "fail",
        "observed": pytest.approx(12.29),
        "unit": "tokens/s",
        "n": 3,
        "failed": 3,
        "failures": [{"exchange": f"p{i}", "value": pytest.approx(12.29)} for i in range(3)],
        "reason": "",
    }
    assert summary_lines(raw)[-1] == (
        "  threshold prose-rate failed: generation_rate{long_prose} each >= 17 tokens/s: "
        "3 of 3 fail, worst 12.29 tokens/s (n=3)"
    )


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (check("c", "fail"), ("failed", 1)),
        (check("c", "fail", grade="known:front"), ("clean", 0)),
        (check("c", "unknown", reason="the run ended"), ("clean", 0)),
        (exchange("bad", outcome="fail", failure=Failure.RESET), ("failed", 1)),
        (exchange("cut", outcome="unknown", failure=Failure.STOPPED), ("clean", 0)),
        (iteration(end="broken"), ("failed", 1)),
        (iteration(end="stopped"), ("clean", 0)),
    ],
)
def test_one_record_of_each_sort_beside_a_good_exchange(record, expected) -> None:
    assert outcome(exchange("good"), record) == expected


def test_nothing_completed_is_not_clean() -> None:
    lost = [opened(exchange("lost")), exchange("cut", outcome="unknown", failure=Failure.STOPPED)]
    assert outcome() == ("nothing", 3)
    assert outcome(*lost) == ("nothing", 3)
    assert outcome(iteration(end="broken")) == ("nothing", 3)


def test_all_failed_is_nothing_completed_and_the_failures_are_listed() -> None:
    failed = [exchange(f"x{i}", outcome="fail", failure=Failure.HTTP_STATUS) for i in range(200)]
    raw = raw_result([], [*failed, iteration(end="failed")], ended=TIME)
    assert (raw["outcome"], raw["exit_code"]) == ("nothing", 3)
    assert raw["exchanges"]["by_failure"] == {"http_status": 200}
    assert raw["first_failures"] == ["exchange x0 failed: http_status (and 199 more)"]


def test_an_iteration_that_completes_with_failures_alone_is_failed() -> None:
    """A scenario may expect its requests to fail."""
    failed = exchange("bad", outcome="fail", failure=Failure.CONTEXT)
    assert outcome(failed, iteration()) == ("failed", 1)
    assert outcome(exchange("good"), failed) == ("failed", 1)


def test_a_run_that_could_not_be_carried_out_is_an_error_whatever_it_measured() -> None:
    ended = {"why": "error", "reason": "no space left on device"}
    assert outcome(exchange(), ended=ended) == ("error", 3)
    lines = summary_lines(raw_result([], [exchange()], ended=ended))
    assert lines[0] == "raw result: ERROR: no space left on device"


def test_a_limit_that_was_not_measured_is_not_clean() -> None:
    raw = raw_result([RATE], [exchange(kind="json")], ended=TIME)
    assert (raw["outcome"], raw["thresholds"][0]["outcome"]) == ("failed", "unknown")
    assert any("threshold prose-rate not measured" in line for line in summary_lines(raw))


@pytest.mark.parametrize(
    ("that", "failures", "expected"),
    [
        ("failed_exchanges share <= 1 %", 1, "clean"),
        ("failed_exchanges share <= 1 %", 2, "failed"),
        ("failed_exchanges{long_prose} count <= 2", 2, "clean"),
        ("failed_exchanges{json} count <= 2", 2, "failed"),
    ],
)
def test_a_plan_may_say_how_many_exchanges_may_fail(that, failures, expected) -> None:
    bad = [exchange(f"b{i}", outcome="fail", failure=Failure.RESET) for i in range(failures)]
    good = [exchange(f"x{i}", kind=kind) for i in range(50) for kind in ("json", "long_prose")]
    assert outcome(*bad, *good, thresholds=[Threshold(name="few", that=that)])[0] == expected


def test_a_plan_may_say_how_many_of_a_check_may_fail() -> None:
    some = Threshold(name="some", that="failed_checks{json.parse} count <= 1")
    records = [exchange(), check("json.parse", "fail"), check("json.parse")]
    assert outcome(*records, thresholds=[some])[0] == "clean"
    assert outcome(*records, check("json.schema", "fail"), thresholds=[some])[0] == "failed"


def test_failures_of_a_threshold_are_bounded_and_counted() -> None:
    raw = raw_result([RATE], prose(KEPT + 50, 12.0), ended=TIME)
    (threshold,) = raw["thresholds"]
    assert (len(threshold["failures"]), threshold["failed"]) == (KEPT, KEPT + 50)


def test_the_summary_is_short_honest_and_harmless() -> None:
    hostile = [check("c", "fail", iteration=i, reason="\x1b[2J" + "A" * 5000) for i in range(50)]
    broken = iteration(number=9, end="broken", reason="KeyError: 'x'")
    unknown = exchange("cut", outcome="unknown", failure=Failure.STOPPED)
    records = [exchange(), exchange("bad", outcome="fail", failure=Failure.STALL, reason="60 s"), unknown]
    raw = raw_result([], [*records, *hostile, broken], ended={"why": "interrupt", "reason": "Ctrl-C"})
    lines = summary_lines(raw)
    assert lines[:4] == [
        "raw result: FAILED (it was interrupted before its time was up)",
        "  iterations completed: 0 long_prose",
        "  exchanges: 1 ok, 1 failed (1 stall), 1 unknown",
        "  checks: 0 passed, 50 failed, 0 unknown",
    ]
    assert "  exchange bad failed: stall: 60 s" in lines
    assert "  scenario long_prose broke in iteration 9: KeyError: 'x'" in lines
    assert lines[4].startswith("  check c failed in long_prose 0: \\x1b[2JAAAA")
    assert lines[4].endswith("… (and 49 more)")
    assert len(lines) == 7
    assert all(line.isprintable() and len(line) <= 402 for line in lines)


def test_a_raw_result_of_a_killed_run_still_has_lines() -> None:
    assert summary_lines({"outcome": "nothing"})[0].startswith("raw result: NOTHING was completed")


def test_a_hundred_thousand_exchanges_cost_little() -> None:
    timings = {"predicted_n": 50, "predicted_ms": 2000.0, "prompt_n": 500, "prompt_ms": 900.0}
    kinds = ("json", "isolation", "cache_pair", "long_prose")
    records = [exchange(f"x{i}", kind=kinds[i % 4], timings=timings) for i in range(100_000)]
    records += [check("c", kind="json") for _ in range(100_000)]
    thats = [
        "generation_rate{long_prose} each >= 17 tokens/s",
        "first_token_time{isolation} p95 <= 30 s",
        "total_time p99 <= 100 s",
        "failed_exchanges share <= 1 %",
        "failed_checks count == 0",
        "stalls count == 0",
    ]
    thresholds = [Threshold(name=str(i), that=that) for i, that in enumerate(thats)]
    began = time.process_time()
    raw = raw_result(thresholds, records, ended=TIME)
    assert raw["outcome"] == "clean"
    assert (
        time.process_time() - began < 5
    )  # about 0.6 s of CPU on an idle core; a quadratic pass takes minutes


def test_a_failed_check_is_told_with_the_exchanges_that_it_looked_at() -> None:
    records = [check("c", "fail", kind="k", reason="wrong", exchanges=("load-1", "load-2"))]
    assert raw_result((), records, ended=TIME)["first_failures"] == [
        "check c failed in k 1 (load-1, load-2): wrong"
    ]
    records = [check("c", "fail", kind="k", exchanges=tuple("abcd"))]
    assert raw_result((), records, ended=TIME)["first_failures"] == [
        "check c failed in k 1 (a, b, c and 1 more)"
    ]


def test_every_check_that_failed_is_told_and_what_is_not_listed_is_counted() -> None:
    """Thirty-nine failures of nine checks are nine lines, not the first five failures."""
    records = [check(f"c{n % 9}", "fail", iteration=n, reason="wrong") for n in range(39)]
    told = raw_result((), records, ended=TIME)["first_failures"]
    assert told[0] == "check c0 failed in long_prose 0: wrong (and 4 more)"
    assert told[8] == "check c8 failed in long_prose 8: wrong (and 3 more)"
    assert len(told) == 9
    records = [check(f"c{n % 30:02d}", "fail", iteration=n) for n in range(60)]
    told = raw_result((), records, ended=TIME)["first_failures"]
    assert (len(told), told[-1]) == (SHOWN + 1, "and 20 more checks, 40 failures")
