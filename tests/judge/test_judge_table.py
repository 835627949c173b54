"""Records and readings as arrays: typed, with gaps as gaps, and joined by id and by time."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.clock import NS
from soakproof.records import Exchange, KernelEvent
from soakproof.testing.evidence import check, evidence, exchange, iteration, sample, trace

RUN = evidence(
    exchange("a", at=1.0, took=2.0, kind="long"),
    exchange("b", at=4.0, took=2.0, kind="short", iteration=2, outcome="fail"),
    check("long.right", at=3.0, exchanges=("a",)),
    iteration("long", at=1.0, took=2.0),
    trace("memory", 10.0, available_bytes=lambda at: 100 - at),
    sample("memory", 10.0, state="timeout"),
)


def test_fields_are_columns_of_their_type() -> None:
    table = RUN.exchange_table
    assert table["sent_ns"].tolist() == [1 * NS, 4 * NS]
    assert table["sent_ns"].dtype == np.int64
    assert np.isnan(table["first_token_ns"]).tolist() == [False, True]
    assert table["stream"].dtype == bool
    assert table["scenario"].tolist() == ["long", "short"]
    assert table["finish_reason"].tolist() == ["stop", None]
    assert table["secrets"].tolist() == [(), ()]
    assert table.seconds("done_ns").tolist() == [3.0, 6.0]


def test_a_metric_is_a_column_with_gaps() -> None:
    waits = RUN.exchange_table.metric("first_token_time")
    assert waits[0] == pytest.approx(0.2)
    assert np.isnan(waits[1])


@pytest.mark.parametrize("told", [None, -1, math.nan, math.inf, 1e16, 10**400, True, "12", [12]])
def test_what_a_server_tells_is_a_number_or_unknown(told: Any) -> None:
    timed = [exchange(f"x{n}", timings={"predicted_ms": told}, usage={"total_tokens": 7}) for n in range(2)]
    both = evidence(*timed, exchange("y", at=5, timings={"predicted_ms": 12})).exchange_table
    assert np.isnan(both.timing("predicted_ms")).tolist() == [True, True, False]
    assert both.where(both["id"] == "y").timing("predicted_ms").tolist() == [12.0]
    assert np.isnan(both.timing("prompt_ms")).all()
    assert both.usage("total_tokens")[:2].tolist() == [7.0, 7.0]


def test_parts_of_parts_have_the_columns_of_the_whole() -> None:
    table = evidence([exchange(f"x{n}", at=n, iteration=n) for n in range(6)]).exchange_table
    part = table.where(table["iteration"] > 1)
    again = part.where(part["iteration"] < 5)
    assert again["id"].tolist() == [e.id for e in again.records] == ["x2", "x3", "x4"]
    assert again.whole.tolist() == [True] * 3


def test_facts_are_columns_too_and_of_a_part_those_of_the_whole() -> None:
    table = evidence([exchange(f"x{n}", at=n, text="yes" * n) for n in range(3)]).exchange_table
    assert table.fact("has_text").tolist() == [False, True, True]
    part = table.where(table.fact("has_text"))
    assert part.fact("text_chars").tolist() == [3, 6]
    assert part.records[1].id == "x2"
    assert evidence().exchange_table.fact("has_text").dtype == bool


def test_rows_are_chosen_by_masks_spans_and_values() -> None:
    table = RUN.exchange_table
    assert table.where(table["outcome"] == "fail")["id"].tolist() == ["b"]
    assert table.between(3.5, 5.0)["id"].tolist() == ["b"]
    assert {kind: len(part) for kind, part in table.by("scenario").items()} == {"long": 1, "short": 1}
    assert RUN.iteration_table.between(0.0, 0.5).records == ()
    assert [RUN.by_id[id].scenario for id in RUN.check_table["exchanges"][0]] == ["long"]


def test_the_order_in_which_records_were_written_is_known() -> None:
    late, early = exchange("late", at=5.0), exchange("early", at=1.0)
    run = evidence(late, early, iteration("long", at=1.0), unopened=True)
    table = run.exchange_table
    assert table["id"].tolist() == ["early", "late"]
    assert [run.records[line] for line in run.line_numbers(Exchange)] == list(table.records)
    assert len(run.line_numbers(KernelEvent)) == 0


def test_parts_at_places_have_the_columns_of_the_whole() -> None:
    table = evidence([exchange(f"x{n}", at=n, iteration=n) for n in range(4)]).exchange_table
    part = table.take(np.array([3, 1]))
    assert part["id"].tolist() == [e.id for e in part.records] == ["x3", "x1"]
    assert part.where(part["iteration"] > 2)["id"].tolist() == ["x3"]


def test_what_there_is_not_is_told_with_what_may_be_meant() -> None:
    with pytest.raises(KeyError, match="did you mean 'sent_ns'"):
        RUN.exchange_table["sent_n"]
    with pytest.raises(ValueError, match="generation_rate"):
        RUN.exchange_table.metric("speed")
    with pytest.raises(ValueError, match="no metric of Check"):
        RUN.check_table.metric("generation_rate")


def test_an_empty_run_has_empty_columns() -> None:
    table = evidence().exchange_table
    assert (len(table), table["sent_ns"].tolist(), table.metric("total_time").tolist()) == (0, [], [])


def test_a_reading_is_joined_by_time() -> None:
    memory = RUN.source("memory")
    assert memory.near(np.array([0.2, 3.4, 30.0]), "available_bytes").tolist()[:2] == [100, 97]
    assert np.isnan(memory.near(np.array([30.0]), "available_bytes")).all()
    assert np.isnan(RUN.source("psi").near(np.array([1.0]), "x")).all()


@given(st.lists(st.floats(0, 100), min_size=1, max_size=20, unique=True), st.floats(0, 100))
def test_the_nearest_reading_is_the_nearest(at: list[float], when: float) -> None:
    told = evidence([sample("s", t, took=0.0, v=t) for t in at]).source("s")
    (found,) = told.near(np.array([when]), "v", within_s=1e9)
    assert abs(found - when) <= min(abs(t - when) for t in told.numbers("v")) + 1e-6


def test_what_is_no_way_to_ask_a_table_is_told() -> None:
    table = RUN.exchange_table
    for wrong in (lambda: list(table), lambda: table[0:2], lambda: table[0]):
        with pytest.raises(TypeError, match="a table has columns"):
            wrong()
    with pytest.raises(ValueError, match="is it of another table"):
        table.where(np.array([True]))
    with pytest.raises(ValueError, match="a mask is for where"):
        table.take(np.ones(len(table), bool))
    with pytest.raises(KeyError, match="did you mean 'codes'"):
        table.fact("cods")
    assert table.take([1, 0])["id"].tolist() == [table["id"][1], table["id"][0]]
