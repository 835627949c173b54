"""The threshold language: what it takes, what it refuses and how, and what a run makes of it."""

import contextlib
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.columns import Table
from soakproof.errors import UsageError
from soakproof.plan import Kind, Threshold
from soakproof.quantities import PERCENTILES, statistic
from soakproof.records import Check, Exchange, Failure, Iteration, Opened
from soakproof.scenario import Scenario
from soakproof.testing.evidence import check, exchange, iteration, opened
from soakproof.thresholds import OPS, evaluate, parse


@dataclass(frozen=True)
class Isolated(Scenario):
    checks = ("isolation.own", "isolation.foreign")


KINDS = (Kind("isolation", Isolated(), 10), Kind("long_prose", Scenario(), 3))


def read(that: str):
    return parse(Threshold(name="t", that=that, why="because"), KINDS, "soak.toml")


@pytest.mark.parametrize(
    ("that", "told"),
    [
        ("failed_exchanges count >= 0", "count >= 0 always holds, whatever the run does"),
        ("generation_rate each >= 0 tokens/s", "each >= 0 always holds"),
        ("failed_checks share <= 100 %", "share <= 100 always holds"),
        ("total_time max <= 1e999 s", ""),
        ("failed_exchanges count < 0", "count < 0 can never hold"),
        ("first_token_time p95 < 0 ms", "p95 < 0 can never hold"),
        ("failed_checks share > 100 %", "share > 100 can never hold"),
        ("failed_exchanges count == 0.5", "count == 0.5 can never hold"),
    ],
)
def test_it_refuses_what_no_run_can_break_or_none_can_keep(that: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        read(that)
    assert told in raised.value.problem
    assert "threshold 't'" in raised.value.problem


@pytest.mark.parametrize(
    "that",
    ["failed_exchanges count > 0.5", "stalls count <= 0", "total_time count > 0", "stalls share < 100 %"],
)
def test_it_takes_what_a_run_can_keep_and_break(that: str) -> None:
    assert read(that).that == that


def judged(that: str, exchanges=(), checks=(), iterations=(), unclosed=()):
    kinds = (Exchange, Check, Iteration, Opened)
    there = (exchanges, checks, iterations, unclosed)
    return evaluate(read(that), *(Table(kind, of) for kind, of in zip(kinds, there, strict=True)))


@pytest.mark.parametrize(
    ("that", "expected"),
    [
        (
            "generation_rate{long_prose} each >= 17 tokens/s",
            ("generation_rate", "long_prose", "each", ">=", 17, "tokens/s"),
        ),
        ("first_token_time{isolation} p95 <= 30 s", ("first_token_time", "isolation", "p95", "<=", 30, "s")),
        (
            "first_token_time{isolation.a} p95<=300 ms",
            ("first_token_time", "isolation.a", "p95", "<=", 0.3, "s"),
        ),
        ("total_time max < 2 min", ("total_time", "", "max", "<", 120, "s")),
        ("prompt_tokens median > 6,000 tokens", ("prompt_tokens", "", "median", ">", 6000, "tokens")),
        ("generation_rate p50 >= 60 tokens/min", ("generation_rate", "", "p50", ">=", 1, "tokens/s")),
        ("total_time count >= 3", ("total_time", "", "count", ">=", 3, "")),
        ("failed_exchanges count == 0", ("failed_exchanges", "", "count", "==", 0, "")),
        ("failed_exchanges share <= 1 %", ("failed_exchanges", "", "share", "<=", 1, "%")),
        (
            "failed_checks{isolation.foreign} count == 0",
            ("failed_checks", "isolation.foreign", "count", "==", 0, ""),
        ),
        ("failed_checks{isolation} count == 0", ("failed_checks", "isolation", "count", "==", 0, "")),
        ("  stalls  count  ==  0  ", ("stalls", "", "count", "==", 0, "")),
        ("iterations{long_prose} count >= 3", ("iterations", "long_prose", "count", ">=", 3, "")),
    ],
)
def test_it_reads(that, expected) -> None:
    found = read(that)
    assert (found.quantity, found.filter, found.stat, found.op, found.limit, found.unit) == expected
    assert (found.name, found.that, found.why) == ("t", that, "because")


@pytest.mark.parametrize(
    ("that", "words"),
    [
        (
            "generation_rat each >= 17 tokens/s",
            ["unknown 'generation_rat'", "did you mean 'generation_rate'?"],
        ),
        ("generation_rate{long_pros} each >= 17 tokens/s", ["filter", "did you mean 'long_prose'?"]),
        ("generation_rate{long_pros.a} each >= 17 tokens/s", ["did you mean 'long_prose'?"]),
        ("generation_rate{} each >= 17 tokens/s", ["the filter {} is empty"]),
        ("iterations{long_prose.ask} count >= 1", ["filter", "unknown 'long_prose.ask'"]),
        ("generation_rate avg >= 17 tokens/s", ["stat", "unknown 'avg'", "median"]),
        ("generation_rate share >= 17 %", ["stat", "unknown 'share'"]),
        ("failed_checks each == 0", ["failed_checks: stat", "known are: count, share"]),
        ("iterations share >= 3 %", ["known are: count"]),
        ("failed_checks{isolation.forein} count == 0", ["did you mean 'isolation.foreign'?"]),
        ("generation_rate each => 17 tokens/s", ["operator", "unknown '=>'", "did you mean '>='?"]),
        ("generation_rate each >= 17", ["unit: expected a number in tokens/s or tokens/min", "found '17'"]),
        ("generation_rate each >= 17 s", ["unit: expected a number in tokens/s", "found '17 s'"]),
        ("first_token_time p95 <= 30 tokens", ["expected a number in ms or s or"]),
        ("failed_exchanges count == 0 s", ["expected a number without a unit"]),
        ("stalls count == none", ["limit: expected a number", "found 'none'"]),
        ("generation_rate >= 17 tokens/s", ["cannot read", "expected a form such as"]),
        ("", ["cannot read"]),
    ],
)
def test_what_is_wrong_is_named_with_what_was_expected(that, words) -> None:
    with pytest.raises(UsageError) as error:
        read(that)
    for word in ("soak.toml: threshold 't'", *words):
        assert word in str(error.value)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_words(that) -> None:
    with contextlib.suppress(UsageError):
        read(that)


@given(
    st.sampled_from(["generation_rate", "total_time", "cached_tokens"]),
    st.sampled_from(["each", "median", "mean", "min", "max", "p50", "p90", "p95", "p99", "sum"]),
    st.sampled_from(sorted(OPS)),
    st.integers(1, 10**6),  # of 0, some can never hold
)
def test_what_is_written_is_what_is_read(quantity, stat, op, limit) -> None:
    unit = {"generation_rate": "tokens/s", "total_time": "s", "cached_tokens": "tokens"}[quantity]
    found = read(f"{quantity} {stat} {op} {limit} {unit}")
    assert (found.quantity, found.stat, found.op, found.limit) == (quantity, stat, op, limit)


def prose(*rates: float):
    return [
        exchange(f"p{i}", timings={"predicted_n": 768, "predicted_ms": 768_000 / r})
        for i, r in enumerate(rates, 1)
    ]


def test_each_names_every_exchange_below_and_the_worst() -> None:
    others = [exchange("other", kind="isolation", timings={"predicted_n": 99, "predicted_ms": 99_000})]
    found = judged("generation_rate{long_prose} each >= 17 tokens/s", prose(12.3, 12.1, 18.0) + others)
    assert (found.outcome, found.n) == ("fail", 3)
    assert [id for id, _ in found.failures] == ["p1", "p2"]
    assert found.observed == pytest.approx(12.1)


def test_each_that_holds_tells_how_near_it_came() -> None:
    found = judged("generation_rate each >= 10 tokens/s", prose(12.3, 12.1, 18.0))
    assert (found.outcome, found.failures) == ("pass", ())
    assert found.observed == pytest.approx(12.1)
    assert judged("total_time each <= 5 s", [exchange(took=2.0), exchange(took=3.0)]).observed == 3.0


def times(*seconds: float):
    return [exchange(f"x{i}", took=s) for i, s in enumerate(seconds)]


@pytest.mark.parametrize(
    ("stat", "observed"),
    [
        ("median", 2.5),
        ("p50", 2.5),
        ("mean", 4),
        ("min", 1),
        ("max", 10),
        ("sum", 16),
        ("p90", 10),
        ("count", 4),
    ],
)
def test_statistics(stat, observed) -> None:
    unit = "" if stat == "count" else " s"
    found = judged(f"total_time {stat} <= 100{unit}", times(10, 1, 3, 2))
    assert (found.outcome, found.observed, found.n) == ("pass", observed, 4)


@pytest.mark.parametrize(
    ("op", "outcome"), [("<=", "pass"), (">=", "pass"), ("==", "pass"), ("<", "fail"), (">", "fail")]
)
def test_operators(op, outcome) -> None:
    assert judged(f"total_time max {op} 2 s", times(2, 1)).outcome == outcome


def test_a_percentile_of_few_is_computed_and_says_so() -> None:
    few = judged("total_time p95 <= 30 s", times(*range(1, 20)))
    assert (few.outcome, few.observed, few.n) == ("pass", 19, 19)
    assert few.reason == "p95 of 19 is the largest value: it needs 20 or more"
    enough = judged("total_time p95 <= 30 s", times(*range(1, 21)))
    assert (enough.observed, enough.reason) == (19, "")


@given(st.lists(st.floats(0, 1e6), min_size=1), st.sampled_from(sorted(PERCENTILES)))
def test_a_percentile_is_a_value_that_occurred_with_enough_at_or_below(values, stat) -> None:
    ordered = sorted(values)
    found = statistic(stat, ordered)
    assert found in values
    assert sum(v <= found for v in ordered) * 100 >= PERCENTILES[stat] * len(ordered)
    assert sum(v < found for v in ordered) * 100 < PERCENTILES[stat] * len(ordered)


def test_nothing_to_measure_is_unknown_with_the_reason() -> None:
    failed = [exchange(outcome="fail", failure=Failure.STALL)]
    found = judged("generation_rate{long_prose} each >= 17 tokens/s", failed)
    assert (found.outcome, found.observed, found.n) == ("unknown", None, 0)
    assert found.reason.startswith("nothing to measure: 1 exchanges, none with a generation_rate")


def test_a_role_that_no_request_had_is_told_with_those_that_there_were() -> None:
    found = judged("first_token_time{long_prose.frist} p90 < 5 s", [exchange(role="first")])
    assert found.reason == "no request of long_prose had the role 'frist'; there were: first"


@pytest.mark.parametrize(
    "that", ["generation_rate each >= 1 tokens/s", "generation_rate median >= 1 tokens/s"]
)
def test_what_could_not_be_measured_is_counted(that: str) -> None:
    rated = exchange("a", timings={"predicted_n": 10, "predicted_ms": 1000})
    short = [exchange(f"s{n}", timings={"predicted_n": 1, "predicted_ms": 0.028}) for n in range(2)]
    failed = exchange("f", outcome="fail", failure=Failure.STALL)
    found = judged(that, [rated, *short, failed])
    assert (found.outcome, found.observed, found.n) == ("pass", 10, 1)
    assert found.reason == "2 of 3 successes not measured"
    assert judged(that, [rated]).reason == ""


def test_a_role_takes_in_only_its_own() -> None:
    asked = [
        exchange("a", kind="isolation", role="a", took=1),
        exchange("b", kind="isolation", role="b", took=9),
    ]
    assert judged("total_time{isolation.a} max <= 2 s", asked).outcome == "pass"
    assert judged("total_time{isolation} max <= 2 s", asked).outcome == "fail"
    assert judged("total_time{isolation.c} max <= 2 s", asked).outcome == "unknown"


MIXED = [
    *[exchange(f"ok{i}") for i in range(98)],
    exchange("bad", outcome="fail", failure=Failure.RESET),
    exchange("stalled", kind="isolation", outcome="fail", failure=Failure.STALL),
    exchange("cut", outcome="unknown", failure=Failure.STOPPED),
]


@pytest.mark.parametrize(
    ("that", "outcome", "observed"),
    [
        ("failed_exchanges count == 0", "fail", 2),
        ("failed_exchanges count <= 2", "pass", 2),
        ("failed_exchanges share <= 2 %", "pass", 2),
        ("failed_exchanges share <= 1.9 %", "fail", 2),
        ("failed_exchanges{long_prose} count == 1", "pass", 1),
        ("unknown_exchanges count == 0", "fail", 1),
        ("stalls count == 0", "fail", 1),
        ("stalls{long_prose} count == 0", "pass", 0),
    ],
)
def test_counts_over_the_run(that, outcome, observed) -> None:
    found = judged(that, MIXED)
    assert (found.outcome, found.observed) == (outcome, observed)


def test_a_request_that_never_closed_is_unknown() -> None:
    found = judged("unknown_exchanges count == 0", [exchange("a")], unclosed=[opened(exchange("lost"))])
    assert (found.outcome, found.observed, found.n) == ("fail", 1, 2)


CHECKS = [
    *[check("isolation.own", kind="isolation") for _ in range(3)],
    check("isolation.foreign", "fail", kind="isolation"),
    check("isolation.foreign", "unknown", kind="isolation"),
    check("prose.length", "fail", grade="known:front"),
]


@pytest.mark.parametrize(
    ("that", "outcome", "observed", "n"),
    [
        ("failed_checks count == 0", "fail", 1, 4),
        ("failed_checks{isolation.own} count == 0", "pass", 0, 3),
        ("failed_checks{isolation.foreign} count == 0", "fail", 1, 1),
        ("failed_checks{isolation} share <= 25 %", "pass", 25, 4),
        ("unknown_checks count <= 1", "pass", 1, 6),
        ("failed_checks{long_prose} count == 0", "unknown", None, 0),
    ],
)
def test_checks_over_the_run(that, outcome, observed, n) -> None:
    found = judged(that, checks=CHECKS)
    assert (found.outcome, found.observed, found.n) == (outcome, observed, n)


@pytest.mark.parametrize(
    "that", ["failed_exchanges count == 0", "stalls count == 0", "failed_checks count == 0"]
)
def test_nothing_done_keeps_no_promise(that) -> None:
    found = judged(that)
    assert found.outcome == "unknown"
    assert "came to an outcome" in found.reason


def test_iterations_are_counted_when_they_completed() -> None:
    done = [iteration(number=i) for i in range(3)] + [iteration(number=4, end="failed")]
    assert judged("iterations{long_prose} count >= 3", iterations=done).outcome == "pass"
    assert judged("iterations{long_prose} count >= 4", iterations=done).outcome == "fail"
    none = judged("iterations{long_prose} count >= 3")
    assert (none.outcome, none.observed) == ("fail", 0)
