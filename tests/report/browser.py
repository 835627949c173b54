"""A headless browser that is shown reports: Chromium by playwright, where both are there."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")

# What a reader would be bothered by, as the browser has laid it out.
LOOK = """
() => {
  const number = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = number(getComputedStyle(e).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    const style = getComputedStyle(e);
    if (!own || !e.getClientRects().length || ["title", "desc", "style"].includes(e.tagName)) continue;
    const [a, b] = [number(e.namespaceURI.endsWith("svg") ? style.fill : style.color), behind(e)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push([e.textContent.trim().slice(0, 40), ratio]);
  }
  const wide = [...document.querySelectorAll("body *")].filter(e =>
    !e.closest(".scroll table") && !e.closest("pre") && !e.closest("svg")
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80));
  return {
    faint, wide,
    scrolls: document.documentElement.scrollWidth - innerWidth,
    figures: [...document.querySelectorAll("figure svg")].map(e => e.getBoundingClientRect())
      .map(r => [r.width, r.height]),
    letters: Math.min(...[...document.querySelectorAll("figure svg text")].map(e =>
      e.getBoundingClientRect().height)),
    text: document.body.innerText,
  };
}
"""


@dataclass
class Seen:
    """One look at a page."""

    look: dict[str, Any]
    errors: list[str] = field(default_factory=list)  # what the console said
    requests: list[str] = field(default_factory=list)  # whatever was asked for, but the page itself


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, without a network; the test is skipped where it is not there."""
    api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)  # else playwright's own
    with api.sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        except api.Error as error:
            pytest.skip(f"there is no Chromium here: {error}")
        try:
            yield made
        finally:
            made.close()


def seen(chromium: Any, file: Path, *, width: int, scheme: str, picture: Path | None = None) -> Seen:
    """The file as it is shown in a window of that width; ``picture`` is where the whole page goes as PNG."""
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    found = Seen({})
    page.on("console", lambda told: found.errors.append(told.text))
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    page.on("request", lambda asked: found.requests.append(asked.url))
    page.goto(file.as_uri())
    found.look = page.evaluate(LOOK)
    found.requests.remove(file.as_uri())
    if picture is not None:
        page.screenshot(path=picture, full_page=True)
    page.close()
    return found
