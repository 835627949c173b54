"""A page as one HTML file: no request to anywhere, everything escaped. Reads nothing but its template."""

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from soakproof.plain import commandless, listed, visible
from soakproof.report.page import Page
from soakproof.report.verdicts import exchanges, figure_row, is_plain, meta
from soakproof.report.visible import bounded

_LONGEST = 4000  # characters of one text
_FEW = 4  # failures that the first screen names
_GLYPHS = {"pass": "✓", "fail": "✕", "error": "!", "inconclusive": "?"}
_CLASSES = {  # every outcome's word to one of the four looks
    "PASS": "pass",
    "CLEAN": "pass",
    "FAIL": "fail",
    "FAILED": "fail",
    "ERROR": "error",
    "NOTHING": "error",
    "KNOWN": "inconclusive",
}


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("soakproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["look"] = look
    made.filters["glyph"] = lambda outcome: _GLYPHS[look(outcome)]
    made.filters["figure_row"] = figure_row
    made.filters["meta"] = meta
    made.filters["exchanges"] = exchanges
    made.filters["first_few"] = lambda texts: listed(texts, _FEW, "; ")
    made.tests["plain"] = is_plain
    made.filters["drawn"] = _drawn
    return made


def _shown(value: Any) -> Any:
    """Every text that a template prints, bounded and made visible before it is escaped."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible(bounded(value, _LONGEST, 0))


def look(outcome: str) -> str:
    """Which of the four looks an outcome has: pass, fail, error, inconclusive."""
    return _CLASSES.get(outcome.upper(), "inconclusive")


def _drawn(svg: str) -> Markup:
    """The figure itself: the one text that is not escaped, since `svg.finish` has built it as XML."""
    return Markup(svg)


def to_html(page: Page) -> str:
    """The whole page as one file."""
    return render("report.html.j2", page=page)


def render(template: str, **values: Any) -> str:
    """A template of this room with these values, each text of which is made harmless."""
    return commandless(_environment().get_template(template).render(**values), "&#{};")
