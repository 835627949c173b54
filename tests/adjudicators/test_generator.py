"""Generator: a saturated tester makes a run inconclusive, never failed."""

import pytest
from judging import adjudicate, evidence, exchange, sample, trace

from soakproof.judge import Outcome

CALM = {"cpu_percent": 12.0, "loop_lag_max_ms": 3.0, "permits_waiting": 2, "in_flight": 2}


def load_samples(seconds=100, node="load", **values):
    return trace("tester", seconds, node=node, **{**CALM, **values})


def test_a_tester_that_kept_up_passes() -> None:
    found = adjudicate("generator", evidence(exchange(), load_samples()))
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert [(f.name, f.value) for f in found["load"].figures] == [
        ("CPU p90", 12.0),
        ("loop lag p99", 3.0),
        ("loop lag max", 3.0),
        ("most in flight", 2.0),
        ("most waiting for a permit", 2.0),
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"cpu_percent": lambda t: 99.0 if t < 20 else 5.0}, "CPU p90 is 99 %"),
        ({"loop_lag_max_ms": lambda t: 600.0 if t < 2 else 1.0}, "loop lag p99 is 600 ms"),
        ({"loop_lag_max_ms": lambda t: 6000.0 if t < 1 else 1.0}, "loop lag max is 6000 ms"),
    ],
)
def test_a_tester_that_was_too_slow_is_inconclusive(values, words) -> None:
    found = adjudicate("generator", evidence(exchange(), load_samples(**values)))["load"]
    assert (found.outcome, found.fault) == (Outcome.INCONCLUSIVE, "ours")
    assert found.answer == f"The tester itself was too slow, so nothing it timed is sure: {words}."


def test_a_short_peak_is_not_saturation() -> None:
    peak = load_samples(cpu_percent=lambda t: 100.0 if t < 5 else 5.0)
    assert adjudicate("generator", evidence(exchange(), peak))["load"].outcome is Outcome.PASS


def test_each_load_node_is_judged_by_itself() -> None:
    run = evidence(exchange(), load_samples(node="load-1"), load_samples(node="load-2", cpu_percent=97.0))
    found = adjudicate("generator", run)
    assert found["load-1"].outcome is Outcome.PASS
    assert found["load-2"].outcome is Outcome.INCONCLUSIVE


def test_no_samples_or_no_values_are_not_known() -> None:
    assert adjudicate("generator", evidence(exchange()))["load"].outcome is Outcome.INCONCLUSIVE
    blind = sample("tester", node="load", state="error", reason="psutil")
    found = adjudicate("generator", evidence(exchange(), blind))["load"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        "Not known: CPU p90, loop lag p99, loop lag max.",
    )


def requests_with_delays(late: int, of: int):
    return [exchange(f"x{i}", due=i, at=i + (2.0 if i < late else 0.0), took=0.2) for i in range(of)]


@pytest.mark.parametrize(("late", "outcome"), [(1, Outcome.PASS), (2, Outcome.INCONCLUSIVE)])
def test_the_schedule_is_kept_by_99_in_a_hundred(late, outcome) -> None:
    found = adjudicate("generator", evidence(requests_with_delays(late, 100), load_samples()))["schedule"]
    assert found.outcome is outcome
    assert len(found.exchanges) == late


def test_a_limit_may_be_set_with_its_unit() -> None:
    run = evidence(requests_with_delays(2, 100), load_samples())
    assert adjudicate("generator", run, slip="3s")["schedule"].outcome is Outcome.PASS


def test_nothing_sent_is_inconclusive() -> None:
    assert adjudicate("generator", evidence(load_samples()))["schedule"].outcome is Outcome.INCONCLUSIVE
