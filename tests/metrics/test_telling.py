"""What adjudicators share: findings named by their file, bounded ids, nearest-rank percentiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge import counted, ids, upper
from soakproof.testing.evidence import adjudicate, evidence, exchange, opened


def test_a_finding_is_named_by_its_file_and_asks_the_docstrings_first_line() -> None:
    found = adjudicate("generator", evidence())["load"]
    assert found.adjudicator == "generator"
    assert found.question == "Was the tester itself the bottleneck?"


def test_ids_are_each_once_in_order_and_at_most_twenty() -> None:
    asked = [exchange(f"x{i}") for i in range(30)]
    assert ids([asked[1], "x0", opened(asked[1]), *asked]) == ("x1", "x0", *(f"x{i}" for i in range(2, 20)))


@pytest.mark.parametrize(
    ("n", "many", "told"),
    [
        (1, "", "1 deck"),
        (2, "", "2 decks"),
        (0, "", "0 decks"),
        (1200, "decks of cards", "1,200 decks of cards"),
    ],
)
def test_counts_in_words(n, many, told) -> None:
    assert counted(n, "deck", many) == told


@given(st.lists(st.integers(), min_size=1), st.integers(1, 100))
def test_a_percentile_has_enough_at_or_below_it(values, percent) -> None:
    found = upper(values, percent)
    assert found in values
    assert sum(v <= found for v in values) * 100 >= percent * len(values)
