"""One hostile run through every form that is text: nothing in any of them commands, mentions or refers."""

import re

import hostile_report as hostile
import pytest

from soakproof.plain import commandless
from soakproof.report import (
    build,
    render_json,
    render_junit,
    step_summary,
    terminal_table,
    to_html,
    to_markdown,
)

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")


@pytest.fixture(scope="module")
def forms() -> dict[str, str]:
    verdict = hostile.verdict()
    page = build(verdict, hostile.run(), None)
    return {
        "md": to_markdown(page, figures=""),
        "report.md": to_markdown(page),
        "github": step_summary(to_markdown(page, figures="")),
        "html": to_html(page),
        "json": render_json(verdict),
        "junit": render_junit(verdict),
        "terminal": commandless(terminal_table(verdict, every=True)),  # as it is printed in a job
        **{drawing.name: drawing.svg for drawing in page.drawings},
    }


def test_no_line_of_any_form_commands_githubs_runner(forms: dict[str, str]) -> None:
    for name, text in forms.items():
        lines = [row.lstrip() for row in text.splitlines()]
        assert not [row for row in lines if row.startswith("::")], name
        assert "##[" not in text, name


def test_no_form_has_a_character_that_is_not_seen(forms: dict[str, str]) -> None:
    for name, text in forms.items():
        assert not CONTROL.search(text), name
        text.encode()


def test_markdown_mentions_nobody_and_refers_to_no_issue(forms: dict[str, str]) -> None:
    """In what GitHub looks through for that: text that is no code."""
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = re.sub(r"<(code|pre)\b.*?</\1>", "", parser.render(forms["md"]), flags=re.DOTALL)
    assert "fixes #<!-- -->12, closes GH<!-- -->-3" in page
    assert not re.search(r"@\w|#\d|(?i:gh)-\d", page)
