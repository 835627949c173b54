"""Hostile text becomes one bounded, printable line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.plain import listed, model_name, plain


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


@pytest.mark.parametrize(
    ("parts", "most", "joint", "shown"),
    [
        (["a", "b"], 2, ", ", "a, b"),
        (["a", "b", "c", "d"], 2, ", ", "a, b and 2 more"),
        (["a", "b", "c"], 2, "; ", "a; b; and 1 more"),
        ([], 2, ", ", ""),
        (["\x1b[2J", 7], 2, ", ", "\\x1b[2J, 7"),
        (["x"] * 2000, 1, ", ", "x and 1,999 more"),
    ],
)
def test_a_list_that_is_cut_says_how_many_more(
    parts: list[object], most: int, joint: str, shown: str
) -> None:
    assert listed(parts, most, joint) == shown


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("/home/a/models/soak-probe-7m-q8_0.gguf", "soak-probe-7m-q8_0.gguf"),
        ("C:\\models\\probe.gguf", "probe.gguf"),
        ("models/probe.GGUF", "probe.GGUF"),
        ("/mnt/model/", "model"),
        ("unsloth/Qwen3-Coder", "unsloth/Qwen3-Coder"),
        ("Qwen3-0.6B-GGUF", "Qwen3-0.6B-GGUF"),
        (7, "7"),
    ],
)
def test_a_model_that_is_told_as_a_file_has_the_files_name(told: object, name: str) -> None:
    assert model_name(told) == name
