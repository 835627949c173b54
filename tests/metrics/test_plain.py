"""Hostile text becomes one bounded, printable line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.plain import plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("as it is: äöü 漢字", "as it is: äöü 漢字"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("two\nlines\tand\rmore", "two lines and more"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        (7, "7"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text, shown) -> None:
    assert plain(text) == shown


@given(st.text(st.characters(codec=None)), st.integers(2, 50))
def test_the_line_is_bounded_and_printable(text, limit) -> None:
    line = plain(text, limit)
    assert len(line) <= limit
    assert line.isprintable()


def test_a_cut_is_shown() -> None:
    assert plain("x" * 10_000, 5) == "xxxx…"
