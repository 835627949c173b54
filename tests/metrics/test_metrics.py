"""Metrics: each definition, what it leaves out, and no absurd timing is ever believed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.amounts import number
from soakproof.clock import nanoseconds
from soakproof.metrics import METRICS, measure, value
from soakproof.records import Failure
from soakproof.testing.evidence import exchange


def of(name: str, **values):
    return value(name, exchange(**values))


def test_every_metric_tells_its_unit_direction_and_what_it_leaves_out() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.unit in ("tokens/s", "tokens", "s")
        assert metric.better in ("higher", "lower", None)
        assert metric.describe.endswith(".")
        assert metric.leaves_out


def test_generation_rate_is_the_servers_count_over_its_time() -> None:
    timings = {"predicted_n": 768, "predicted_ms": 62_489.8, "predicted_per_second": 99999}
    assert of("generation_rate", timings=timings) == pytest.approx(12.29, abs=0.001)


@pytest.mark.parametrize(
    "timings",
    [
        {"predicted_n": 1, "predicted_ms": 0.0, "predicted_per_second": None},
        {"predicted_n": 1, "predicted_ms": 0.028, "predicted_per_second": 35714.28},
        {"predicted_n": 0, "predicted_ms": 0.0},
        {"predicted_n": 100, "predicted_ms": 0.0},
        {"predicted_n": 100, "predicted_ms": 0.028},
        {"predicted_n": 100, "predicted_ms": -5.0},
        {"predicted_n": math.nan, "predicted_ms": 10.0},
        {"predicted_n": 100, "predicted_ms": math.inf},
        {"predicted_n": "100", "predicted_ms": "10"},
        {"predicted_n": True, "predicted_ms": 10.0},
        {"predicted_n": 10**400, "predicted_ms": 10.0},
        {"predicted_n": None, "predicted_ms": None},
        {"predicted_per_second": 50.0},
        {},
        None,
        ["predicted_n"],
    ],
)
def test_absurd_timings_are_not_measured(timings) -> None:
    assert of("generation_rate", timings=timings) is None


def streamed(**values):
    """50 tokens, the first after 1 s, the last after 5.9 s: 10 tokens/s."""
    return {"took": 5.9, "first": 1 / 5.9, "completion_tokens": 50, "token_events": 50, **values}


def test_without_timings_generation_rate_is_tokens_after_the_first_on_our_clock() -> None:
    assert of("generation_rate", **streamed()) == pytest.approx(10.0)


@pytest.mark.parametrize(
    "values",
    [
        streamed(token_events=6),  # more than 8 tokens an event: buffered
        streamed(token_events=0),
        streamed(took=1.005, first=1 / 1.005),  # 50 tokens in a few ms: a buffer was emptied
        streamed(first=1.0),  # all at once
        streamed(stream=False),
        streamed(completion_tokens=7),
        streamed(completion_tokens=None),
        streamed(cancelled_ns=nanoseconds(3)),
        streamed(outcome="fail", failure=Failure.STALL),
    ],
)
def test_our_clock_is_not_asked_what_it_cannot_tell(values) -> None:
    assert of("generation_rate", **values) is None


def test_a_buffered_answer_is_measured_where_the_server_tells_its_own_time() -> None:
    timings = {"predicted_n": 50, "predicted_ms": 5000}
    assert of("generation_rate", **streamed(token_events=1, timings=timings)) == 10.0
    assert of("generation_rate", **streamed(stream=False, timings=timings)) == 10.0


def test_a_cancelled_answer_has_no_rate_and_no_total_and_still_a_first_token() -> None:
    values = {
        "took": 2.0,
        "cancelled_ns": nanoseconds(2),
        "timings": {"predicted_n": 50, "predicted_ms": 5000},
    }
    assert of("generation_rate", **values) is None
    assert of("total_time", **values) is None
    assert of("first_token_time", **values) == pytest.approx(0.2)


def test_prompt_rate_counts_only_what_was_processed() -> None:
    timings = {"cache_n": 17_400, "prompt_n": 1200, "prompt_ms": 6000.0}
    assert of("prompt_rate", timings=timings) == 200.0
    assert of("prompt_rate", timings={"cache_n": 5000, "prompt_n": 1, "prompt_ms": 20.0}) is None


def test_times_are_measured_from_when_the_request_was_due() -> None:
    values = {"due": 5.0, "at": 7.0, "took": 1.0, "first": 0.5}
    assert of("first_token_time", **values) == pytest.approx(2.5)
    assert of("first_content_time", **values) == pytest.approx(2.5)
    assert of("total_time", **values) == pytest.approx(3.0)
    assert of("send_delay", **values) == pytest.approx(2.0)


def test_reasoning_is_a_first_token_and_not_yet_content() -> None:
    values = {"took": 40.0, "first_content_ns": nanoseconds(34.7), "first_token_ns": nanoseconds(28.6)}
    assert of("first_token_time", **values) == pytest.approx(28.6)
    assert of("first_content_time", **values) == pytest.approx(34.7)
    assert of("first_content_time", **values | {"first_content_ns": None}) is None


@pytest.mark.parametrize("name", ["first_token_time", "first_content_time"])
def test_no_token_gives_no_time_and_never_zero(name) -> None:
    assert of(name, first=None) is None
    assert of(name, stream=False) is None
    assert of(name, at=5.0, first_token_ns=nanoseconds(4), first_content_ns=nanoseconds(4)) is None


def test_gaps_and_counts_are_taken_as_they_are() -> None:
    assert of("widest_gap", widest_gap_ns=nanoseconds(1.5)) == 1.5
    assert of("widest_gap") is None
    assert of("cached_tokens", cached_tokens=0) == 0
    assert of("cached_tokens") is None
    assert of("prompt_tokens", prompt_tokens=33) == 33
    assert of("completion_tokens", completion_tokens=8) == 8


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("outcome", ["fail", "unknown"])
def test_what_did_not_succeed_is_in_no_metric(name, outcome) -> None:
    timings = {"predicted_n": 50, "predicted_ms": 5000, "prompt_n": 500, "prompt_ms": 500}
    values = {
        "outcome": outcome,
        "timings": timings,
        "first_token_ns": 5,
        "cached_tokens": 3,
        "prompt_tokens": 3,
    }
    assert of(name, **values) is None


def test_measure_gives_ids_and_leaves_out_what_it_cannot_tell() -> None:
    asked = [exchange("a", took=2.0), exchange("b", outcome="fail"), exchange("c", took=4.0)]
    assert measure("total_time", asked) == [("a", 2.0), ("c", 4.0)]


def test_a_metric_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no metric is called 'longest_gap'; there are: .*widest_gap"):
        measure("longest_gap", [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from(["predicted_n", "predicted_ms", "prompt_n", "prompt_ms"]), JSON))
def test_whatever_a_server_sends_a_rate_is_finite_and_positive_or_none(timings) -> None:
    asked = exchange(timings=timings, cached_tokens=None)
    for name in ("generation_rate", "prompt_rate"):
        rate = value(name, asked)
        assert rate is None or (math.isfinite(rate) and rate > 0)


@given(JSON)
def test_number_takes_finite_ones_that_are_not_negative(value) -> None:
    found = number(value)
    assert found is None or (math.isfinite(found) and found >= 0)
