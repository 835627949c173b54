"""The HTML is one well-formed file that loads nothing, with the raw outcome first and hostile text inert."""

import re
from html.parser import HTMLParser

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge.finding import Outcome, Verdict
from soakproof.report import render_html
from soakproof.report.html import look
from soakproof.testing.evidence import evidence

VOID = {"meta", "link", "br", "img", "hr", "input"}
LOADS = {
    "script",
    "img",
    "iframe",
    "object",
    "embed",
    "video",
    "audio",
    "source",
    "base",
    "form",
    "foreignObject",
}


class Checker(HTMLParser):
    """Collects elements, ids and references; notes every tag that does not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[tuple[str, str]] = []
        self.handlers: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        if len(set(names)) != len(names):
            self.problems.append(f"an attribute twice in {tag}")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "srcset", "action", "data", "poster", "xlink:href", "style"):
                self.references.append((name, value or ""))
            if name.startswith("on"):
                self.handlers.append(name)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> out of order")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    checker.close()
    return checker


@pytest.fixture(scope="module")
def page() -> str:
    return render_html(founding.verdict(), founding.run(), founding.baseline())


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return render_html(hostile.verdict(), hostile.run())


@pytest.mark.parametrize("name", ["page", "hostile_page"])
def test_it_is_well_formed_and_loads_nothing(name: str, request: pytest.FixtureRequest) -> None:
    checker = checked(request.getfixturevalue(name))
    assert checker.problems == []
    assert checker.open == []
    assert not set(checker.tags) & LOADS
    assert checker.handlers == []
    for attribute, value in checker.references:
        assert value.startswith("#") or value == "data:," or attribute == "style", (attribute, value)
        assert "http" not in value
    assert not re.search(r"url\((?!#)|@import", "".join(v for _, v in checker.references))


@pytest.mark.parametrize("name", ["page", "hostile_page"])
def test_ids_are_unique_and_every_reference_inside_has_its_target(
    name: str, request: pytest.FixtureRequest
) -> None:
    text = request.getfixturevalue(name)
    checker = checked(text)
    assert len(set(checker.ids)) == len(checker.ids)
    inside = [v[1:] for a, v in checker.references if a == "href" and v.startswith("#")]
    inside += re.findall(r"url\(#([^)]+)\)", text)
    inside += " ".join(re.findall(r'aria-labelledby="([^"]+)"', text)).split()
    assert inside
    assert set(inside) <= set(checker.ids)


def test_hostile_text_is_shown_as_text(hostile_page: str) -> None:
    shown = "".join(checked(hostile_page).text)
    assert "<script>alert(1)</script>" in shown
    assert "<script" not in hostile_page
    assert "{{{{ 7*7 }}}}" not in shown
    assert "{{ 7*7 }}" in shown
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\ud800-\udfff]", hostile_page
    )
    assert "\\u202e" in shown


def test_the_raw_outcome_comes_first_and_is_not_softened(page: str) -> None:
    words = "".join(checked(page).text)
    order = [
        "Raw outcome, as the run recorded it", "✕ FAILED", "Verdict, by adjudication", "✓ PASS",
        "What overruled it",
        "Findings", "Traffic", "Time to first token", "Against the baseline", "What was tested",
        "Sealed by the run itself", "What this run does not prove",
    ]  # fmt: skip
    places = [words.index(word, words.index("Soak of")) for word in order[:4]]
    assert places == sorted(places)
    places = [
        page.index(f'<section id="{name}"')
        for name in ("raw", "overruled", "findings", "baseline", "figures")
    ]
    places += [page.index(f'<section id="{name}"') for name in ("checks", "traffic", "identity", "evidence")]
    places += [page.index(f'<section id="{name}"') for name in ("versions", "not-proven")]
    assert places == sorted(places)
    assert all(word in words for word in order)


def test_it_is_small_offline_and_made_for_every_reader(page: str) -> None:
    assert len(page.encode()) < 500_000
    assert "@media screen and (prefers-color-scheme: dark)" in page
    assert "@media print" in page
    assert "@media (max-width: 40rem)" in page
    assert 'name="viewport"' in page
    assert page.count('role="img"') == 5


def test_status_is_a_word_and_a_glyph_as_well_as_a_colour(page: str) -> None:
    badges = re.findall(r'<span class="badge (\w+)"><span aria-hidden="true">(.)</span> (\w+)</span>', page)
    assert ("fail", "✕", "FAIL") in badges
    assert ("pass", "✓", "PASS") in badges
    assert page.count('class="badge ') == len(badges)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("PASS", "pass"),
        ("clean", "pass"),
        ("failed", "fail"),
        ("nothing", "error"),
        ("unknown", "inconclusive"),
        ("?", "inconclusive"),
    ],
)
def test_an_outcome_that_is_not_known_never_looks_like_a_pass(outcome: str, expected: str) -> None:
    assert look(outcome) == expected


def test_a_run_of_nothing_has_a_report() -> None:
    empty = Verdict(
        outcome=Outcome.INCONCLUSIVE, run="r", policy="p", baseline=None, judged_at="", raw=None, findings=()
    )
    page = render_html(empty, evidence(run={"plan": None, "target": None, "load_ended_ns": None}))
    assert checked(page).problems == []
    assert page.count("Not measured") >= 4


def test_a_narrow_screen_shows_outcomes_first_whole_figures_and_that_tables_go_on(page: str) -> None:
    for label in ("Raw thresholds", "Checks"):
        table = page.partition(f'aria-label="{label}"')[2].partition("</thead>")[0]
        assert re.search(r'<th scope="col" class="(\w+)"', table)[1] == "outcome"  # type: ignore[index]
    figures = page.partition('<section id="figures">')[2].partition("</section>")[0]
    assert figures.count("<figure>") == 5
    assert "min-width: 44rem" not in page
    assert "var(--shade)" in page


def test_a_finding_that_cannot_decide_says_so_beside_its_badge(page: str) -> None:
    beside = page.partition('<article class="finding beside">')[2].partition("</article>")[0]
    assert "prose-rate" in beside
    assert ">cannot decide</span>" in beside
    assert page.count('<article class="finding beside">') == 1


def test_the_first_screen_says_what_the_verdict_rests_on(page: str) -> None:
    head = page[page.index("<header>") : page.index('<nav aria-label="Sections">')]
    panel = head[head.index('id="verdict-outcome"') :]
    assert "It rests on 30 min of load on Lemonade" in panel
    assert "<li>30 min can neither prove nor exclude a leak.</li>" in panel
    assert '<a href="#not-proven">What this run does not prove</a>: 2 points.' in panel
    assert "Half an hour" not in head


def test_the_first_screen_names_a_few_failures_and_counts_the_others() -> None:
    raw = {**founding.raw(), "checks": {f"c{n:02d}": {"fail": 1} for n in range(30)}}
    page = render_html(founding.verdict(raw=raw), founding.run())
    head, _, rest = page.partition("<nav ")
    assert "threshold prose-rate; 1 x c00; 1 x c01; 1 x c02; and 27 more." in head
    assert "<li>1 x c29</li>" in rest
