"""Reports as a browser shows them, on a desk and on a phone, light and dark, and printed."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import founding_report as founding
import hostile_report as hostile
import pytest
from browser import browser, seen

from soakproof.judge import Outcome
from soakproof.report import render_html
from soakproof.testing.evidence import event, evidence, exchange, kernel, sample

KEEP = os.environ.get("SOAKPROOF_SCREENSHOTS")  # a folder, for whoever wants to look at them
DESK, PHONE = 1200, 400  # pixels
LOOKS = {  # page: windows that it is looked at in
    "pass": [(width, scheme) for width in (DESK, PHONE) for scheme in ("light", "dark")],
    "fail": [(DESK, "light"), (PHONE, "dark")],
    "inconclusive": [(DESK, "dark"), (PHONE, "light")],
    "hostile": [(PHONE, "dark")],
}
WORDS = {  # page: what must be read on it
    "pass": "Raw outcome: FAILED",
    "fail": "ring_timeout from 900 to 928 s, restart backend at 935 s",
    "inconclusive": "denied (no permission)",
    "hostile": "<script>alert(1)</script>",
}
KINDS = ("long_prose", "isolation")


def failed() -> str:
    """The founding run with a GPU that hung for half a minute, and a server that was started again."""
    run = founding.run()
    happened = [
        kernel("amdgpu: ring gfx timeout", at, severity="fatal", fault_class="ring_timeout", incident=1)
        for at in (900.0, 928.0)
    ]
    kept = [r for r in run.records if getattr(r, "scenario", KINDS[0]) in KINDS]  # a panel each takes time
    records = (*kept, *happened, event("restart", 935.0, role="backend"))
    found = founding.finding(
        "kernel", "gpu", "A ring of the GPU timed out, from 900 to 928 s.", Outcome.FAIL, limit="none",
        fault="host", span=(900.0, 928.0),
    )  # fmt: skip
    others = tuple(f for f in founding.findings() if f.adjudicator != "kernel")
    verdict = founding.verdict(outcome=Outcome.FAIL, findings=(found, *others))
    return render_html(verdict, replace(run, records=records))


def undecided() -> str:
    """A run that was cut short, without a baseline, of which next to nothing was seen."""
    found = founding.finding("kernel", "log", "It could not be read: no permission.", Outcome.INCONCLUSIVE)
    verdict = founding.verdict(
        outcome=Outcome.INCONCLUSIVE, findings=(found, *founding.findings()), baseline=None, changed=()
    )
    answers = [exchange(f"a{n}", at=n, iteration=n) for n in range(9)]
    run = evidence(
        answers, sample("memory", 1, state="denied", reason="no permission"), target=founding.TARGET
    )
    return render_html(verdict, run)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "pass": render_html(founding.verdict(), founding.run(), founding.baseline()),
        "fail": failed(),
        "inconclusive": undecided(),
        "hostile": render_html(hostile.verdict(), hostile.run()),
    }
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as made:
        yield made


@pytest.mark.parametrize("name", LOOKS)
def test_it_is_legible_at_every_width_in_light_and_dark_and_asks_for_nothing(
    chromium: Any, pages: dict[str, Path], tmp_path: Path, name: str
) -> None:
    for width, scheme in LOOKS[name]:
        pictured = name != "hostile"  # which is long, and nothing to look at
        picture = Path(KEEP or tmp_path) / f"{name}-{width}-{scheme}.png" if pictured else None
        found = seen(chromium, pages[name], width=width, scheme=scheme, picture=picture)
        assert found.errors == []
        assert found.requests == []
        assert found.look["scrolls"] <= 0
        assert found.look["wide"] == []
        assert found.look["faint"] == []
        assert len(found.look["figures"]) == 5
        for wide, high in found.look["figures"]:
            assert wide > width * 0.75
            assert high > 20
        assert found.look["letters"] >= 7
        assert WORDS[name] in found.look["text"]
        assert picture is None or picture.stat().st_size > 50_000


def test_it_prints_on_white_with_every_list_open(
    chromium: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    page = chromium.new_page(color_scheme="dark")
    page.goto(pages["pass"].as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(254, 253, 251)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()
