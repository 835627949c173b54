"""How figures look. The only module that imports matplotlib, and only when something is drawn: the import
takes most of a second. `svg` turns what it draws into a document that fits a page.
"""

import contextlib
import logging
import math
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Role: (light, dark). Each light colour is unique: it is how a role is found again in the SVG.
PALETTE = {
    "surface": ("#fefdfb", "#1b1a18"),
    "ink": ("#21201e", "#ebe8e2"),
    "muted": ("#68655f", "#a6a29b"),
    "grid": ("#e4e1db", "#35332f"),
    "line": ("#2a6fbf", "#6ea8ec"),
    "second": ("#b9541c", "#f0945a"),
    "third": ("#12805c", "#4cc79a"),
    "limit": ("#b3261d", "#f28b82"),
    "gap": ("#d3cfc7", "#4a4741"),
}
INK, MUTED, GRID, SURFACE = (PALETTE[role][0] for role in ("ink", "muted", "grid", "surface"))
LINE, SECOND, THIRD, LIMIT, GAP = (PALETTE[role][0] for role in ("line", "second", "third", "limit", "gap"))
WIDTH = 9.2  # inches
_STEPS = (60, 120, 300, 600, 1800, 3600, 7200, 14400)  # seconds between ticks
_SPANS = 10  # between ticks, at most
_SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",  # text stays text: small, searchable, selectable
    "svg.hashsalt": "soakproof",  # the same data give the same bytes
    "text.parse_math": False,  # a kind may be named $x$
    "path.simplify": False,  # thinning is ours, and keeps extremes
    "font.family": ["DejaVu Sans"],  # bundled with matplotlib; for measuring only
    "font.size": 9.0,
    "figure.facecolor": SURFACE,
    "axes.facecolor": SURFACE,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "ytick.major.size": 0.0,
    "lines.linewidth": 1.3,
}


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Import matplotlib without a word about a home it cannot write or a matplotlibrc that is not ours."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def figure(panels: list[float]) -> "tuple[Figure, list[Axes]]":
    """An empty figure with one row of axes a panel, each of that height in inches, sharing time."""
    with _quietly():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

    made = Figure(figsize=(WIDTH, sum(panels) + 0.55), layout="constrained")
    FigureCanvasSVG(made)
    axes = made.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=panels)
    return made, list(axes[:, 0])


@contextlib.contextmanager
def theme() -> Iterator[None]:
    """Our settings alone, whatever a matplotlibrc of the user says."""
    with _quietly():
        import matplotlib
        import matplotlib.style  # looks for styles in the home
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a glyph that the measuring font lacks: the reader's font shows it
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def time_axis(axes: "Axes", end: float) -> None:
    """Name the shared axis of time: minutes in a run of more than five. It has eleven ticks at most, however
    long a run says that it was.
    """
    axes.set_xlim(0, max(end, 1.0))
    if end > 300:
        axes.xaxis.set_major_formatter(lambda value, _: f"{value / 60:g}")
        step = next((s for s in _STEPS if end / s <= _SPANS), math.ceil(end / _SPANS / 36000) * 36000)
        axes.set_xticks([step * i for i in range(int(end // step) + 1)])
    axes.set_xlabel("minutes of the run" if end > 300 else "seconds of the run")


def note(axes: "Axes", height: float, text: str, colour: str) -> None:
    """A word on a horizontal line, at its right end."""
    axes.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 2),
        textcoords="offset points",
        ha="right",
        color=colour,
        fontsize=8,
    )


def legend(axes: "Axes") -> None:
    """Names of the lines, above the panel at its right, apart: a narrow screen shows them larger."""
    axes.legend(
        loc="lower right", bbox_to_anchor=(0.95, 0.98), ncols=6, frameon=False, fontsize=8, borderaxespad=0,
        columnspacing=5,
    )  # fmt: skip


def headroom(axes: "Axes") -> None:
    """Room above and below, and a span of at least 4 % of the height, so that noise does not fill a panel."""
    low, high = axes.dataLim.intervaly
    room = max((high - low) * 0.12, abs(high) * 0.02, 1e-9)
    axes.set_ylim(max(low - room, 0) if low >= 0 else low - room, high + room)
