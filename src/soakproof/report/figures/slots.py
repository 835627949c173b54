"""Figure: what was under way: slots, requests in flight, iterations, and what happened to the run."""

from typing import TYPE_CHECKING

import numpy as np

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.series import reading
from soakproof.report.figures import style
from soakproof.report.figures.bands import draw_bands
from soakproof.report.figures.drawn import drawn, undrawn
from soakproof.report.figures.marks import Mark, marks, run_end, told
from soakproof.report.figures.series import (
    Floats,
    Series,
    in_flight,
    merged,
    missing_spans,
    of_samples,
    thinned,
)
from soakproof.report.page import Drawing
from soakproof.report.traffic import kinds
from soakproof.report.visible import line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME, TITLE = "activity", "Slots, requests in flight and iterations"
_MOST_KINDS = 12
_NEAR = 1 / 1500  # of the run: nearer bands touch each other on any screen


def activity(evidence: Evidence) -> Drawing:
    """Busy slots and requests in flight above, bands of iterations below, marks across both."""
    end = run_end(evidence)
    requests = in_flight(*_from_to(evidence, end))
    if not requests:
        return undrawn(NAME, TITLE, "no request was sent")
    busy = of_samples(evidence.source("slots"), reading("busy"))
    happened = marks(evidence)
    iterated = set(evidence.iteration_table["scenario"].tolist())
    lanes = [kind for kind in kinds(evidence) if kind in iterated]
    caption = _caption(evidence, busy, happened, lanes)
    with style.theme():
        made, axes = style.figure([1.5, 0.35 + 0.26 * max(len(lanes[:_MOST_KINDS]), 1)])
        _draw_counts(axes[0], requests, busy, evidence)
        _draw_lanes(axes[1], evidence, lanes[:_MOST_KINDS], end)
        draw_bands(axes, happened, end)
        style.time_axis(axes[-1], end)
        return drawn(made, NAME, TITLE, caption)


def _from_to(evidence: Evidence, end: float) -> tuple[Floats, Floats]:
    """When each request was sent, and when it ended."""
    closed, unclosed = evidence.exchange_table, [o.sent_ns / NS for o in evidence.unclosed]
    began = np.append(closed.seconds("sent_ns"), unclosed)
    return began, np.append(closed.seconds("done_ns"), np.full(len(unclosed), end))


def _draw_counts(ax: "Axes", requests: Series, busy: Series, evidence: Evidence) -> None:
    shown = thinned(requests, 450)
    ax.fill_between(shown.times, shown.values, step="post", color=style.LINE, alpha=0.22, linewidth=0)
    ax.step(
        shown.times, shown.values, where="post", color=style.LINE, linewidth=0.8, label="requests in flight"
    )
    if busy:
        seen = thinned(busy, 450)
        ax.step(seen.times, seen.values, where="post", color=style.SECOND, linewidth=1.0, label="slots busy")
        for start, end in missing_spans(busy)[:200]:
            ax.axvspan(start, end, color=style.GAP, alpha=0.5, linewidth=0)
    slots = number(evidence.target.get("slots"))
    if slots:
        ax.axhline(slots, color=style.MUTED, linestyle=(0, (5, 3)), linewidth=1)
        style.note(ax, slots, f"{slots:g} slots", style.MUTED)
    ax.set_ylim(0, max(float(requests.known.max()), slots or 0.0) * 1.25 + 0.2)
    ax.locator_params(axis="y", integer=True)
    style.legend(ax)


def _draw_lanes(ax: "Axes", evidence: Evidence, lanes: list[str], end: float) -> None:
    for row, kind in enumerate(lanes):
        mine = evidence.iteration_table.where(evidence.iteration_table["scenario"] == kind)
        for ended, colour in ((True, style.THIRD), (False, style.LIMIT)):
            of_end = mine.where((mine["end"] == "completed") == ended)
            from_to = (of_end.seconds(name).tolist() for name in ("started_ns", "ended_ns"))
            spans = zip(*from_to, strict=True)
            bands = [(a, max(b - a, end * _NEAR)) for a, b in merged(spans, end * _NEAR)]
            height = (row - 0.3, 0.6) if ended else (row - 0.42, 0.84)  # told by height too, not colour alone
            ax.broken_barh(bands, height, color=colour, alpha=0.75, linewidth=0)
    ax.set_yticks(range(len(lanes)), [line(kind, 28) for kind in lanes])
    ax.set_ylim(max(len(lanes), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", labelcolor=style.INK)
    ax.grid(False)


def _caption(evidence: Evidence, busy: Series, happened: list[Mark], lanes: list[str]) -> str:
    parts = ["Requests from when they were sent to their end"]
    if busy:
        parts.append(f"busy slots as the backend told them (n {busy.known.size:,})")
    else:
        states = set(evidence.source("slots").states())
        parts.append(f"busy slots not measured ({', '.join(sorted(states)) or 'no such source was sampled'})")
    parts.append("bands: iterations, taller and red where they did not complete")
    if len(lanes) > _MOST_KINDS:
        parts.append(f"not drawn for want of room: {', '.join(lanes[_MOST_KINDS:])}")
    parts.append(told(happened))
    return f"{'; '.join(parts)}."
