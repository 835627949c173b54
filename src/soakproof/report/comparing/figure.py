"""The figure of a comparison: every value, the medians, and the intervals, as shares of the first arm."""

import math
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from soakproof.judge.comparing.comparison import Comparison
from soakproof.judge.comparing.rows import Row
from soakproof.judge.statistics import thinned
from soakproof.report.figures import style
from soakproof.report.figures.drawn import drawn, undrawn
from soakproof.report.visible import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME, TITLE = "comparison", "Arms compared"
_MOST_ROWS = 14  # of one metric
_MOST_POINTS = 300  # of an arm in a row
_NEAR, _FAR = 10, 50  # per cent: up to where the axis is linear, and from where it need not be
_CAPTION = (
    "A point is one value as a share of the first arm's median: grey the first arm's, blue the other's. The "
    "bar is the change, the line its interval; the dashed lines are the margin."
)


def draw(comparison: Comparison) -> tuple[str, bytes | None]:
    """The figure as an SVG document and as a PNG; without a PNG where nothing could be compared."""
    metrics: dict[str, list[Row]] = {}
    for row in comparison.rows:
        if row.judged.change is not None:
            metrics.setdefault(row.metric, []).append(row)
    if not metrics:
        return undrawn(NAME, TITLE, "nothing could be compared").svg, None
    left_out = sum(max(0, len(rows) - _MOST_ROWS) for rows in metrics.values())
    caption = _CAPTION + (f" {left_out} rows are left out for want of room." if left_out else "")
    with style.theme():
        heights = [0.55 + 0.34 * min(len(rows), _MOST_ROWS) for rows in metrics.values()]
        made, axes = style.figure(heights)
        for ax, (metric, rows) in zip(axes, metrics.items(), strict=True):
            _panel(ax, metric, rows[:_MOST_ROWS], comparison.request.margin)
        _share_axis(axes[-1], line(comparison.arms[0].name, 40))
        drawing = drawn(made, NAME, TITLE, caption)
    return drawing.svg, drawing.png()


def _panel(ax: "Axes", metric: str, rows: list[Row], margin: float) -> None:
    ax.set_title(metric)
    ax.axvline(0, color=style.INK, linewidth=0.8)
    for side in (-margin, margin):
        ax.axvline(100 * side, color=style.LIMIT, linewidth=0.8, linestyle=(0, (5, 3)))
    for place, row in enumerate(rows):
        _draw(ax, place, row)
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
    ax.set_yticks(range(len(rows)), [_label(row) for row in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", labelcolor=style.INK)


def _share_axis(ax: "Axes", first: str) -> None:
    """Per cent; beyond a tenth logarithmic where something is far out."""
    low, high = ax.get_xlim()
    if max(-low, high) > _FAR:
        ax.set_xscale("symlog", linthresh=_NEAR, linscale=1.5)
        ticks = (-90, -50, -20, -10, 0, 10, 20, 50, 100, 300, 1000, 3000, 10_000)
        ax.set_xticks([tick for tick in ticks if low <= tick <= high])
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:+g}" if value else "0")
    ax.set_xlabel(f"change against {first}, %")


def _label(row: Row) -> str:
    prompts = "" if row.prompts == "not told" else f", {row.prompts}"
    return f"{line(row.arm, 16)}: {line(row.workload, 24)}{prompts}"


def _draw(ax: "Axes", place: int, row: Row) -> None:
    """The first arm's values above the line of the row, the other's on it."""
    change = row.judged.change
    assert change is not None
    level = median(row.values[0]) if row.values[0] else 0.0
    for values, height, colour in zip(
        row.values, (place - 0.22, place + 0.06), (style.MUTED, style.LINE), strict=True
    ):
        if level:
            shown = 100 * (np.array(thinned(sorted(values), _MOST_POINTS)) / level - 1)
            ax.plot(
                shown, [height] * len(shown), "o", color=colour, markersize=3.2, alpha=0.6, markeredgewidth=0
            )
    if math.isfinite(change.high) and change.low < change.high:
        ax.plot([100 * change.low, 100 * change.high], [place + 0.24] * 2, color=style.SECOND, linewidth=1.6)
    if math.isfinite(change.estimate):
        ax.plot([100 * change.estimate] * 2, [place - 0.02, place + 0.32], color=style.INK, linewidth=2)
