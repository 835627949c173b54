"""Figures 2 and 3: generation rate over the run, and first-token times, kind by kind."""

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.metrics import METRICS, values
from soakproof.report.figures import style
from soakproof.report.figures.marks import run_end
from soakproof.report.figures.series import Floats, Series, series, thinned, window_medians
from soakproof.report.figures.svg import empty, finish
from soakproof.report.page import Drawing
from soakproof.report.quantity import number, quantity
from soakproof.report.traffic import kinds
from soakproof.report.visible import line as one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GENERATION, GENERATION_TITLE = "generation", "Generation rate over the run"
FIRST, FIRST_TITLE = "first-token", "Time to first token"
_MOST_KINDS = 8
_MOST_POINTS = 400  # of one kind
_A_WINDOW = 5  # answers that a window of the median should hold


def generation(evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """A panel a kind: each answer's rate, the median of each window, and the baseline's median."""
    found = [(kind, _rates(evidence, kind)) for kind in kinds(evidence)]
    drawn = [(kind, line) for kind, line in found if line][:_MOST_KINDS]
    if not drawn:
        return _nothing(GENERATION, GENERATION_TITLE, "generation_rate", evidence)
    medians = {kind: _median("generation_rate", baseline, kind) for kind, _ in drawn}
    caption = _generation_caption(found, drawn, medians)
    with style.theme():
        made, axes = style.figure([1.15] * len(drawn))
        for ax, (kind, line) in zip(axes, drawn, strict=True):
            _draw_rates(ax, kind, line, medians[kind])
        style.time_axis(axes[-1], run_end(evidence))
        svg = finish(made, GENERATION, GENERATION_TITLE, caption)
    return Drawing(GENERATION, GENERATION_TITLE, caption, svg)


def _rates(evidence: Evidence, kind: str) -> Series:
    of = METRICS["generation_rate"].of
    return series(
        (e.done_ns / NS, v) for e in evidence.exchanges if e.scenario == kind and (v := of(e)) is not None
    )


def _draw_rates(ax: "Axes", kind: str, line: Series, baseline: float | None) -> None:
    ax.set_title(
        f"{one_line(kind, 40)}: median {number(float(np.median(line.known)))} tokens/s, n {line.known.size:,}"
    )
    ax.set_ylabel("tokens/s")
    points = thinned(line, _MOST_POINTS // 3)
    ax.plot(points.times, points.values, "o", color=style.LINE, markersize=3.2, alpha=0.55, markeredgewidth=0)
    windows = window_medians(line, min(20, line.times.size // _A_WINDOW))
    ax.plot(windows.times, windows.values, color=style.LINE, linewidth=1.6, marker="_", markersize=7)
    if baseline is not None:
        ax.axhline(baseline, color=style.SECOND, linestyle=(0, (5, 3)))
        style.note(ax, baseline, f"baseline {quantity(baseline)}", style.SECOND)
    style.headroom(ax)


def _generation_caption(
    found: Sequence[tuple[str, Series]],
    drawn: Sequence[tuple[str, Series]],
    medians: dict[str, float | None],
) -> str:
    told = ["a point is one answer, the line joins the medians of windows with three answers or more"]
    if any(line.times.size > _MOST_POINTS for _, line in drawn):
        told.append("where there are many, the lowest and highest of each short span are drawn")
    if any(value is not None for value in medians.values()):
        told.append("dashed: the baseline's median")
    return _told(told, [k for k, line in found if not line], [k for k, line in found if line][_MOST_KINDS:])


def first_token(evidence: Evidence, baseline: Evidence | None) -> Drawing:
    """A row a kind on a logarithmic axis: each answer, the median, and the baseline's median."""
    found = [
        (k, values("first_token_time", (e for e in evidence.exchanges if e.scenario == k)))
        for k in kinds(evidence)
    ]
    drawn = [(kind, times) for kind, times in found if times][:_MOST_KINDS]
    if not drawn:
        return _nothing(FIRST, FIRST_TITLE, "first_token_time", evidence)
    medians = {kind: _median("first_token_time", baseline, kind) for kind, _ in drawn}
    told = ["a point is one answer, the bar its kind's median, on a logarithmic axis"]
    if any(value is not None for value in medians.values()):
        told.append("diamond: the baseline's median")
    told.append(
        ", ".join(f"{kind} {quantity(median(times), 's')} (n {len(times):,})" for kind, times in drawn)
    )
    caption = _told(told, [k for k, t in found if not t], [k for k, t in found if t][_MOST_KINDS:])
    with style.theme():
        made, axes = style.figure([0.5 + 0.42 * len(drawn)])
        _draw_rows(axes[0], drawn, medians)
        svg = finish(made, FIRST, FIRST_TITLE, caption)
    return Drawing(FIRST, FIRST_TITLE, caption, svg)


def _draw_rows(
    ax: "Axes", drawn: Sequence[tuple[str, list[float]]], baseline: dict[str, float | None]
) -> None:
    for row, (kind, times) in enumerate(drawn):
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
    ax.set_yticks(range(len(drawn)), [one_line(kind, 28) for kind, _ in drawn])
    ax.set_ylim(len(drawn) - 0.4, -0.6)
    ax.tick_params(axis="y", labelcolor=style.INK)


def _spread(times: Sequence[float]) -> Floats:
    """At most 400 of the times, the shortest and the longest among them; zero has no place on a logarithm."""
    ordered: Floats = np.maximum(np.sort(np.array(times, dtype=float)), 1e-4)
    if ordered.size <= _MOST_POINTS:
        return ordered
    kept: Floats = ordered[np.linspace(0, ordered.size - 1, _MOST_POINTS).round().astype(int)]
    return kept


def _median(name: str, evidence: Evidence | None, kind: str) -> float | None:
    if evidence is None:
        return None
    found = values(name, (e for e in evidence.exchanges if e.scenario == kind))
    return median(found) if found else None


def _nothing(name: str, title: str, metric: str, evidence: Evidence) -> Drawing:
    closed = len(evidence.exchanges)
    why = f"none of {closed:,} answers could be measured" if closed else "no request was answered"
    caption = f"Not measured: {why}; left out are {METRICS[metric].leaves_out}."
    return Drawing(name, title, caption, empty(name, title, why))


def _told(told: list[str], unmeasured: Sequence[str], left_out: Sequence[str]) -> str:
    more = list(told)
    if unmeasured:
        more.append(f"not measured: {', '.join(unmeasured)}")
    if left_out:
        more.append(f"not drawn for want of room: {', '.join(left_out)}")
    caption = "; ".join(more)
    return f"{caption[:1].upper()}{caption[1:]}."
