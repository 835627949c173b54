"""Tables and paragraphs that stay within a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.tables import fitted, paragraph

TEXTS = st.text(st.sampled_from("ab c-/"), max_size=60)


def widest(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


@given(st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 10**6)), max_size=5), st.integers(50, 200))
def test_a_table_is_never_wider_than_asked(rows: list[tuple[str, str, int]], width: int) -> None:
    assert widest(fitted(("name", "what it is", "how many"), rows, width, right=("how many",))) <= width


def test_numbers_and_whole_columns_keep_their_line() -> None:
    name = "2026-08-21T09-00-00Z-soak-e5f6"
    shown = fitted(("run", "target", "n"), [(name, "word " * 20, "1,832")], 60, right=("n",), whole=("run",))
    assert name in shown
    assert "1,832" in shown
    assert widest(shown) <= 60


def test_heads_are_folded_before_numbers_are() -> None:
    shown = fitted(("prompt tokens", "first token, s"), [("1", "2")], 20, right=("prompt tokens",))
    assert [line.split() for line in shown.splitlines()[:2]] == [
        ["prompt", "first"],
        ["tokens", "token,", "s"],
    ]


def test_a_table_without_rows_has_its_heads() -> None:
    assert fitted(("a", "b"), [], 80).splitlines() == ["a  b", "-  -"]


@given(st.text(st.sampled_from("ab c-"), max_size=300), st.integers(30, 120))
def test_a_paragraph_keeps_every_word(text: str, width: int) -> None:
    shown = paragraph(text, width, "    ")
    assert widest(shown) <= width
    assert "".join(shown.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("name", "width", "lines"),
    [
        ("lookup-first-token", 16, ["lookup-first-", "token"]),
        ("process:backend fds", 10, ["process:", "backend", "fds"]),
        ("lookup-first-token", 18, ["lookup-first-token"]),
        ("unbreakable", 8, ["unbreaka", "ble"]),
        ("a fine-grained word", 8, ["a fine-", "grained", "word"]),
    ],
)
def test_a_long_name_is_broken_where_its_parts_meet(name: str, width: int, lines: list[str]) -> None:
    shown = fitted(("what",), [(name,)], width, most={"what": width})
    assert shown.splitlines()[2:] == lines


@given(st.text(st.sampled_from("ab-/:"), max_size=80), st.integers(8, 40))
def test_no_character_of_a_name_is_lost_or_added_where_it_is_broken(name: str, width: int) -> None:
    shown = fitted(("what",), [(name,)], width)
    assert "".join(shown.splitlines()[2:]).replace(" ", "") == name
