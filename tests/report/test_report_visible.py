"""Hostile text is visible, bounded and harmless, in every place where a report shows it."""

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.plain import commandless, visible
from soakproof.report.visible import bounded, line, markdown, markdown_block, markdown_code

PIECES = (
    "http://a.b", "www.a.b", "<script>", "![x](y)", "a|b", "`", "``", "\\", "**", "_a_", "@me", "me@x.org",
    "&amp;", "&#60;", "# h", "- a", "1. a", "$x$", "~~a~~", "\n", "    x", "***", "---", "[^1]", "<!--",
    "-->", "\\|", "mailto:a@b.c", "::error::x", "##[error]", "#12", "GH-3",
    "\x1b[2J", "\u202e", "\ud800", " ", "word",
)  # fmt: skip
hostile = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=8).map("".join))


@given(hostile)
def test_nothing_hidden_or_reordering_survives(text: str) -> None:
    shown = visible(text)
    assert all(c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn") for c in shown)
    shown.encode()  # raises on what UTF-8 cannot carry


def test_what_is_visible_stays_as_it_is() -> None:
    text = "Ångström, 日本語, emoji 🙂 and\ttabs\n"
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
        ("\U000e0001", "\\U000e0001"),
    ],
)
def test_what_is_not_visible_is_its_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_line_is_one_line_and_bounded() -> None:
    assert line("a\r\nb\t c") == "a\\x0d b c"
    assert line("x" * 50, 10) == "xxxxxxxxx…"


def test_bounded_keeps_both_ends_and_counts_the_rest() -> None:
    assert bounded("short") == "short"
    assert bounded("a" * 100 + "b" * 100, 3, 2) == "aaa […195 characters left out…] bb"


@given(hostile)
def test_markdown_shows_the_text_and_nothing_else(text: str) -> None:
    """A real parser finds two plain cells and one plain list item, whatever is in the text."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = parser.render(f"| h | i |\n|---|---|\n| {markdown(text)} | z |\n").replace("<!-- -->", "")
    first, second = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert (html.unescape(first), second) == (line(text), "z")
    assert "<" not in first
    if line(text):
        page = parser.render(f"- x\n- {markdown(text)}\n").replace("<!-- -->", "")
        assert re.fullmatch(r"<ul>\n<li>x</li>\n<li>[^<>]*</li>\n</ul>\n", page)


@given(hostile)
def test_markdown_code_shows_the_text_and_nothing_else(text: str) -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    if not line(text):
        assert markdown_code(text) == ""
        return
    page = parser.render(f"| h | i |\n|---|---|\n| {markdown_code(text, cell=True)} | z |\n")
    first, second = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert (html.unescape(first), second) == (f"<code>{commandless(line(text))}</code>", "z")
    block = parser.render(f"p\n\n{markdown_block(text)}\n\nq\n")
    match = re.fullmatch(r"<p>p</p>\n<pre><code[^>]*>(.*)</code></pre>\n<p>q</p>\n", block, re.DOTALL)
    assert match
    assert html.unescape(match[1]).rstrip("\n") == commandless(visible(text)).rstrip("\n")


def test_markdown_stays_readable_where_nothing_is_dangerous() -> None:
    told = "long_prose: 12.29 tokens/s (n 3), -0.2 % of >= 17; 45.64 GiB"
    assert markdown(told) == told


@pytest.mark.parametrize("text", ["fixes #12", "closes GH-3", "resolves o/r#4", "@team"])
def test_markdown_refers_to_no_issue_and_nobody(text: str) -> None:
    assert not re.search(r"[#@](?=\w)|(?i:gh)-\d", markdown(text))


@given(st.lists(st.sampled_from(("::", "##[", " ", "\n", "\t", "error", "]", ":", "#", "é")), max_size=12))
def test_no_line_commands_githubs_runner(parts: list[str]) -> None:
    """As its parser looks for them: `::` where a line begins, but for white space, and `##[` anywhere."""
    told = commandless("".join(parts))
    assert not any(row.lstrip().startswith("::") or "##[" in row for row in told.splitlines())


@pytest.mark.parametrize("text", ["see http://x.test", "see www.x.test", "ask @team", "mail a@x.test"])
def test_markdown_makes_no_link_and_no_mention(text: str) -> None:
    assert not re.search(r"(?<!\\)://|www\.|@\w", markdown(text))
