"""Figures: generation and prompt rate over the run, kind by kind."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from soakproof.judge.evidence import Evidence
from soakproof.report.figures import style
from soakproof.report.figures.bands import draw_bands
from soakproof.report.figures.bykind import MOST_KINDS, MOST_POINTS, median_of, nothing, sentence
from soakproof.report.figures.drawn import drawn
from soakproof.report.figures.marks import marks, run_end
from soakproof.report.figures.series import Series, series, thinned, window_medians
from soakproof.report.page import Drawing
from soakproof.report.quantity import number, quantity
from soakproof.report.traffic import kinds
from soakproof.report.visible import line as one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_A_WINDOW = 5  # answers that a window of the median should hold


def generation(evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """Each answer's generation rate, a panel a kind."""
    return _rate("generation", "Generation rate over the run", "generation_rate", evidence, baseline)


def prompt(evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """The rate at which each prompt was worked through, a panel a kind."""
    return _rate("prompt", "Prompt rate over the run", "prompt_rate", evidence, baseline)


def _rate(name: str, title: str, metric: str, evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """Each answer's rate, the median of each window, and the baseline's median."""
    found = {kind: _rates(metric, evidence, kind) for kind in kinds(evidence)}
    measured = [kind for kind, line in found.items() if line]
    shown = measured[:MOST_KINDS]
    if not shown:
        return nothing(name, title, metric, evidence)
    medians = {kind: median_of(metric, baseline, kind) for kind in shown}
    unmeasured = [kind for kind, line in found.items() if not line]
    happened, end = marks(evidence), run_end(evidence)
    told = _told([found[kind] for kind in shown], medians, bool(happened))
    caption = sentence(told, unmeasured, measured)
    with style.theme():
        made, axes = style.figure([1.15] * len(shown))
        for ax, kind in zip(axes, shown, strict=True):
            _draw(ax, kind, found[kind], medians[kind])
        draw_bands(axes, happened, end)
        style.time_axis(axes[-1], end)
        return drawn(made, name, title, caption)


def _rates(metric: str, evidence: Evidence, kind: str) -> Series:
    answers = evidence.exchange_table.where(evidence.exchange_table["scenario"] == kind)
    values = answers.metric(metric)
    known = ~np.isnan(values)
    times = answers.seconds("done_ns")[known]
    return series(zip(times.tolist(), values[known].tolist(), strict=True))


def _draw(ax: "Axes", kind: str, line: Series, baseline: float | None) -> None:
    ax.set_title(
        f"{one_line(kind, 40)}: median {number(float(np.median(line.known)))} tokens/s, n {line.known.size:,}"
    )
    points = thinned(line, MOST_POINTS // 3)
    ax.plot(points.times, points.values, "o", color=style.LINE, markersize=3.2, alpha=0.55, markeredgewidth=0)
    windows = window_medians(line, min(20, line.times.size // _A_WINDOW))
    ax.plot(windows.times, windows.values, color=style.LINE, linewidth=1.6, marker="_", markersize=7)
    if baseline is not None:
        ax.axhline(baseline, color=style.SECOND, linestyle=(0, (5, 3)))
        style.note(ax, baseline, f"baseline {quantity(baseline)}", style.SECOND)
    style.headroom(ax)


def _told(lines: Sequence[Series], baselines: Mapping[str, float | None], happened: bool) -> list[str]:
    told = ["a point is one answer, the line joins the medians of windows with three answers or more"]
    if any(line.times.size > MOST_POINTS for line in lines):
        told.append("where there are many, the lowest and highest of each short span are drawn")
    if any(value is not None for value in baselines.values()):
        told.append("dashed: the baseline's median")
    if happened:
        told.append("red bands: as in the figure of memory")
    return told
