"""Figure: first-token times, kind by kind."""

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from soakproof.columns.measured import of_kind
from soakproof.judge.evidence import Evidence
from soakproof.report.figures import style
from soakproof.report.figures.bykind import MOST_KINDS, MOST_POINTS, median_of, nothing, sentence
from soakproof.report.figures.drawn import drawn
from soakproof.report.figures.series import Floats
from soakproof.report.page import Drawing
from soakproof.report.quantity import quantity
from soakproof.report.traffic import kinds
from soakproof.report.visible import line as one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME, TITLE = "first-token", "Time to first token"


def first_token(evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """A row a kind on a logarithmic axis: each answer, the median, and the baseline's median."""
    found = [(k, of_kind("first_token_time", evidence.exchange_table, k)) for k in kinds(evidence)]
    shown = [(kind, times) for kind, times in found if times][:MOST_KINDS]
    if not shown:
        return nothing(NAME, TITLE, "first_token_time", evidence)
    medians = {kind: median_of("first_token_time", baseline, kind) for kind, _ in shown}
    told = ["a point is one answer, the bar its kind's median, on a logarithmic axis"]
    if any(value is not None for value in medians.values()):
        told.append("diamond: the baseline's median")
    told.append(
        ", ".join(f"{kind} {quantity(median(times), 's')} (n {len(times):,})" for kind, times in shown)
    )
    caption = sentence(told, [k for k, t in found if not t], [k for k, t in found if t])
    with style.theme():
        made, axes = style.figure([0.5 + 0.42 * len(shown)])
        _draw_rows(axes[0], shown, medians)
        return drawn(made, NAME, TITLE, caption)


def _draw_rows(
    ax: "Axes", shown: Sequence[tuple[str, list[float]]], baseline: dict[str, float | None]
) -> None:
    for row, (kind, times) in enumerate(shown):
        points = _spread(times)
        offsets = row + ((np.arange(points.size) * 0.618) % 1 - 0.5) * 0.5  # apart, and the same every time
        ax.plot(points, offsets, "o", color=style.LINE, markersize=3.2, alpha=0.5, markeredgewidth=0)
        ax.plot([median(times)] * 2, [row - 0.36, row + 0.36], color=style.INK, linewidth=2)
        if (was := baseline[kind]) is not None:
            ax.plot([max(was, 1e-4)], [row], "D", markersize=6, markerfacecolor="none", color=style.SECOND)
    ax.set_xscale("log")
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set_xlabel("seconds from when the request was due")
    ax.set_yticks(range(len(shown)), [one_line(kind, 28) for kind, _ in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.tick_params(axis="y", labelcolor=style.INK)


def _spread(times: Sequence[float]) -> Floats:
    """At most 400 of the times, the shortest and the longest among them; zero has no place on a logarithm."""
    ordered: Floats = np.maximum(np.sort(np.array(times, dtype=float)), 1e-4)
    if ordered.size <= MOST_POINTS:
        return ordered
    kept: Floats = ordered[np.linspace(0, ordered.size - 1, MOST_POINTS).round().astype(int)]
    return kept
