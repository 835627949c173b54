"""What a trial says of the checks that failed: of each by itself, and no more than was seen."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.gates.failing import ENOUGH, failed_checks, told_failures
from soakproof.records import Check, CheckOutcome
from soakproof.testing.evidence import check


def results(name: str, *iterations: str) -> list[Check]:
    """A check's results: a letter each (pass, fail, unknown), a word an iteration."""
    outcomes: dict[str, CheckOutcome] = {"p": "pass", "f": "fail", "u": "unknown"}
    return [
        check(name, outcomes[letter], iteration=n, reason="so" if letter == "u" else "")
        for n, word in enumerate(iterations)
        for letter in word
    ]


def test_a_check_that_always_fails_is_not_pooled_with_one_that_passes() -> None:
    (told,) = told_failures([*results("mine.exact", "f", "f", "f"), *results("mine.other", "p", "p", "p")])
    assert told.startswith("mine.exact (3 of 3): failed each time")
    assert "mine.other" not in told


def test_checks_that_fail_alike_stand_together_each_with_its_count() -> None:
    always = [*results("a", "f", "f"), *results("b", "ff", "ff")]
    some = [*results("c", "p", "f"), *results("d", "pp", "pf", "pp")]
    told = list(told_failures([*always, *some, *results("e", "p", "p")]))
    assert [line.partition(":")[0] for line in told] == ["a (2 of 2), b (4 of 4)", "c (1 of 2), d (1 of 6)"]
    assert "failed and passed" in told[1]
    assert "most" not in "".join(told)


@pytest.mark.parametrize("only", ["f", "ff", "pf"])
def test_one_iteration_says_nothing_of_always_or_sometimes(only: str) -> None:
    (told,) = told_failures(results("a", only))
    assert "failed in the one iteration that was judged" in told
    assert f"-n {ENOUGH}" in told


def test_what_is_unknown_counts_neither_way() -> None:
    (found,) = failed_checks(results("a", "f", "u", "u"))
    assert (found.failed, found.decided, found.how) == (1, 1, "early")


def test_after_enough_iterations_no_more_are_asked_for() -> None:
    (told,) = told_failures(results("a", *["p", "f"] * ENOUGH))
    assert "-n" not in told


def test_nothing_is_said_where_nothing_failed() -> None:
    assert not list(told_failures(results("a", "p", "u")))


@given(st.lists(st.text("pfu", min_size=1, max_size=4), max_size=8))
def test_always_and_sometimes_are_said_only_where_they_are_true(iterations: list[str]) -> None:
    for found in failed_checks(results("a", *iterations)):
        letters = "".join(iterations)
        assert (found.failed, found.decided) == (letters.count("f"), letters.count("f") + letters.count("p"))
        decided = [word for word in iterations if set(word) & set("pf")]
        assert (found.how == "early") is (len(decided) == 1)
        if found.how == "sometimes":
            assert "p" in letters
        if found.how == "always":
            assert "p" not in letters


def test_the_ways_are_told_the_worst_first() -> None:
    told = list(told_failures([*results("c", "p", "f"), *results("a", "f", "f"), *results("e", "f")]))
    order = ["failed each time", "failed and passed", "the one iteration"]
    places = [next(n for n, line in enumerate(told) if words in line) for words in order]
    assert all(a < b for a, b in pairwise(places))
