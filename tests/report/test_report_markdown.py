"""The Markdown report: readable unrendered, in a report's order, with hostile text inert."""

import re

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.report import Page, build, render_markdown, to_markdown
from soakproof.testing.evidence import evidence

TABLE = ("table", "thead", "tbody", "tr", "th", "td")
NAMES = ("resources", "generation", "prompt", "first-token", "activity")


@pytest.fixture(scope="module")
def page() -> Page:
    return build(founding.verdict(), founding.run(), founding.baseline())


@pytest.fixture(scope="module")
def text(page: Page) -> str:
    return to_markdown(page)


def test_it_begins_with_the_raw_outcome_and_says_what_overruled_it(text: str) -> None:
    assert text.splitlines()[2] == "**Raw outcome: FAILED** · **Verdict: PASS**"
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == [
        "Raw outcome", "What overruled it", "Verdict", "Findings",
        "Against the baseline 2026-08-20T10-00-00Z-soak-k3aa", "Figures", "Checks", "Traffic",
        "What was tested", "Evidence",
        "Versions", "What this run does not prove",
    ]  # fmt: skip
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines() if row[:1] == "|"]
    assert ["FAIL", "prose-rate", f"`{founding.THAT}`", "12.24 tokens/s (lowest)", "3", "3"] in [
        r[:6] for r in rows
    ]
    assert "Decided by: the release's owner, until 2026-11-30" in text
    assert ["median generation rate", "12.29 tokens/s", "3", "11.86 tokens/s (+3.6 %)", ""] in rows
    assert "Strength: 3 against 3: descriptive only" in text


def test_figures_are_files_beside_it_with_captions(text: str) -> None:
    links = re.findall(r"!\[([^\]]+)\]\((figures/[a-z-]+\.svg)\)", text)
    assert [link for _, link in links] == [f"figures/{n}.svg" for n in NAMES]
    assert all(alt for alt, _ in links)


def test_every_table_row_has_its_heads_cells(text: str) -> None:
    for table in re.findall(r"(?:^\|.*\|\n)+", text + "\n", re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_hostile_text_makes_no_markup() -> None:
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    text = render_markdown(hostile.verdict(), hostile.run())
    page = parser.render(text).replace("<!-- -->", "")
    assert set(re.findall(r"<(\w+)", page)) <= {
        "h1", "h2", "h3", "p", "strong", "em", "ul", "li", "code", "pre", "img", "br", "a",
        "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert set(re.findall(r'<img src="([^"]*)"', page)) == {f"figures/{n}.svg" for n in NAMES}
    assert set(re.findall(r"<a [^>]*>", page)) == {'<a href="#what-this-run-does-not-prove">'}
    assert page.count("<h1>") == 1
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_a_run_of_nothing_has_a_report() -> None:
    text = render_markdown(
        founding.verdict(findings=(), raw=None, reconsidered=(), not_proven=()), evidence(run={"plan": {}})
    )
    assert "**Raw outcome: UNKNOWN**" in text
    assert "No source was sampled" in text


def test_what_it_rests_on_stands_before_everything_else(text: str) -> None:
    head = text.partition("## Raw outcome")[0]
    assert "It rests on 30 min of load on Lemonade" in head
    assert "- 30 min can neither prove nor exclude a leak." in head
    assert "- [What this run does not prove](#what-this-run-does-not-prove): 2 points." in head
    assert "\n## What this run does not prove\n" in text


def test_a_plans_title_claims_no_duration_in_the_head() -> None:
    """It tells what the plan is for; how long this run was and the plan is stand side by side."""
    plan = {**founding.run().plan, "duration_s": 120.0, "source": 'duration = "30m"'}
    run = evidence(duration=121.0, plan=plan)
    head = render_markdown(founding.verdict(), run).partition("## Raw outcome")[0]
    assert "Half an hour" not in head
    assert "Load: 2 min; the plan has 30 min" in head


def test_for_a_release_it_has_no_pictures_but_the_resource_trace_in_numbers(page: Page) -> None:
    text = to_markdown(page, figures="")
    assert "![" not in text
    assert "\n## Resource trace\n" in text
    assert re.search(r"\| Available memory of the host +\|.*\| 45.64 GiB \| +47.71 GiB \|", text)
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    tags = set(re.findall(r"<(\w+)", parser.render(text)))
    assert tags <= {
        "h1",
        "h2",
        "h3",
        "p",
        "strong",
        "em",
        "ul",
        "li",
        "code",
        "a",
        *TABLE,
    }  # none of them stripped
