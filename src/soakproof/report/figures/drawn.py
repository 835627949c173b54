"""A figure that was drawn, as SVG at once and as PNG when it is asked for; or words on why there is none."""

import io
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING

from soakproof.report.figures import style
from soakproof.report.figures.svg import svg_of, svg_of_words
from soakproof.report.page import Drawing, Table
from soakproof.report.visible import line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 200  # 1,840 pixels: twice what a page shows


def drawn(made: "Figure", name: str, title: str, caption: str, table: Table | None = None) -> Drawing:
    """The figure as it is drawn now."""
    return Drawing(
        name, title, caption, svg_of(made, name, title, caption), partial(_png, made, title), table
    )


def undrawn(name: str, title: str, why: str, caption: str = "", table: Table | None = None) -> Drawing:
    """ "Not measured" and why, in place of a figure."""
    words = ["Not measured", *wrap(line(why, 400), 70)]
    svg = svg_of_words(name, title, words)
    return Drawing(
        name, title, caption or f"Not measured: {why}.", svg, partial(_png_of_words, title, words), table
    )


def _png(made: "Figure", title: str) -> bytes:
    """In light colours, with its title, since a picture may be shown without a page around it."""
    buffer = io.BytesIO()
    with style.theme():
        made.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        made.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()


def _png_of_words(title: str, words: list[str]) -> bytes:
    with style.theme():
        made, axes = style.figure([0.2 + 0.2 * len(words)])
        axes[0].axis("off")
        axes[0].text(0, 1, "\n".join(words), va="top", color=style.MUTED)
    return _png(made, title)
