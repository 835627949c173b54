"""Generator: a saturated tester makes a run inconclusive, never failed."""

import pytest

from soakproof.judge import Outcome
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, sample, trace

CALM = {"cpu_percent": 12.0, "loop_lag_max_ms": 3.0, "permits_waiting": 2, "in_flight": 2}


def load_samples(seconds=100, node="load", **values):
    return trace("tester", seconds, node=node, **{**CALM, **values})


def test_a_tester_that_kept_up_passes() -> None:
    found = adjudicate("generator", evidence(exchange(), load_samples()))
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert [(f.name, f.value) for f in found["load"].figures] == [
        ("CPU p90", 12.0),
        ("loop lag max", 3.0),
        ("share of late seconds", 0.0),
        ("exchanges touched", 0.0),
        ("most in flight", 2.0),
        ("most waiting for a permit", 2.0),
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"cpu_percent": lambda t: 99.0 if t < 20 else 5.0}, "CPU p90 is 99 %"),
        ({"loop_lag_max_ms": lambda t: 600.0 if 50 <= t < 56 else 1.0}, "the share of late seconds is 6 %"),
        ({"loop_lag_max_ms": lambda t: 6000.0 if t < 1 else 1.0}, "loop lag max is 6000 ms"),
    ],
)
def test_a_tester_that_was_too_slow_is_inconclusive(values, words) -> None:
    found = adjudicate("generator", evidence(exchange(), load_samples(**values)))["load"]
    assert (found.outcome, found.fault) == (Outcome.INCONCLUSIVE, "ours")
    assert found.answer == f"The tester itself was too slow, so nothing it timed is sure: {words}."


def lag_at(*seconds: float, ms: float = 1009.0):
    return load_samples(60, loop_lag_max_ms=lambda t: ms if t in seconds else 2.0)


def test_one_late_second_makes_the_times_of_its_exchanges_unsure_and_no_run_void() -> None:
    """As a run of a minute on a busy machine had it: the 99th percentile of 60 samples is their maximum."""
    short = [exchange(f"x{i}", at=i, took=0.9) for i in range(60)]
    long = exchange("long", at=0.0, took=60.0)
    found = adjudicate("generator", evidence(short, long, lag_at(30.0)))["load"]
    assert found.outcome is Outcome.PASS
    assert "but for 1 second (worst lag 1 s)" in found.answer
    assert 1 <= len(found.exchanges) <= 3
    assert "x29" in found.exchanges
    few = [exchange(f"y{i}", at=29.0, took=2.0) for i in range(4)]
    assert adjudicate("generator", evidence(few, lag_at(30.0)))["load"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        ([exchange(f"x{i}", at=0.6 * i, took=0.5) for i in range(100)], Outcome.PASS),  # few of many
        ([exchange(f"x{i}", at=0.0, took=60.0) for i in range(4)], Outcome.PASS),  # all, and a little of each
        ([exchange(f"x{i}", at=2.0 + 27 * (i % 2), took=2.0) for i in range(8)], Outcome.INCONCLUSIVE),
    ],
)
def test_late_seconds_void_a_run_by_the_exchanges_that_they_touched(sent, outcome) -> None:
    assert adjudicate("generator", evidence(sent, lag_at(3.0, 30.0)))["load"].outcome is outcome


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
        "Not known: CPU, event-loop lag.",
    )


def requests_with_delays(late: int, of: int):
    return [exchange(f"x{i}", due=i, at=i + (2.0 if i < late else 0.0), took=0.2) for i in range(of)]


@pytest.mark.parametrize(
    ("late", "outcome"), [(1, Outcome.PASS), (5, Outcome.PASS), (6, Outcome.INCONCLUSIVE)]
)
def test_the_schedule_is_kept_by_95_in_a_hundred(late, outcome) -> None:
    found = adjudicate("generator", evidence(requests_with_delays(late, 100), load_samples()))["schedule"]
    assert found.outcome is outcome
    assert len(found.exchanges) == late


@pytest.mark.parametrize(("apart", "outcome"), [(0.0, Outcome.PASS), (5.0, Outcome.INCONCLUSIVE)])
def test_requests_that_one_pause_held_back_were_late_once(apart, outcome) -> None:
    held = [exchange(f"h{i}", due=apart * i, at=apart * i + 1.1 + i / 1000, took=0.2) for i in range(4)]
    rest = [exchange(f"x{i}", at=30.0 + i, took=0.5) for i in range(20)]
    assert adjudicate("generator", evidence(held, rest, load_samples()))["schedule"].outcome is outcome


@pytest.mark.parametrize(
    ("name", "told"),
    [("cpu_percent", "Not known: CPU in 90 of"), ("loop_lag_max_ms", "Not known: event-loop lag in 90 of")],
)
def test_what_was_mostly_not_measured_was_not_within_its_bound(name, told) -> None:
    def judged(known):
        holes = load_samples(**{name: lambda t: 3.0 if t < known else None})
        return adjudicate("generator", evidence(exchange(), holes))["load"]

    assert judged(96).outcome is Outcome.PASS
    assert judged(10).outcome is Outcome.INCONCLUSIVE
    assert judged(10).answer.startswith(told)


def test_a_limit_may_be_set_with_its_unit() -> None:
    run = evidence(requests_with_delays(6, 100), load_samples())
    assert adjudicate("generator", run, slip="3s")["schedule"].outcome is Outcome.PASS


def test_nothing_sent_is_inconclusive() -> None:
    assert adjudicate("generator", evidence(load_samples()))["schedule"].outcome is Outcome.INCONCLUSIVE


def test_what_the_tester_itself_raised_is_an_error_of_the_run() -> None:
    faults = [event("tester_fault", at, node="load", error="ZeroDivisionError: x") for at in (3.0, 9.0)]
    found = adjudicate("generator", evidence(exchange("a"), faults))["faults"]
    assert (found.outcome, found.fault, found.span) == (Outcome.ERROR, "ours", (3.0, 9.0))
    assert "2 faults of the tester itself; first: ZeroDivisionError: x" in found.answer
