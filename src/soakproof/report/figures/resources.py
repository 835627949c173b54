"""Figure: available memory, and what the server and the GPU hold, over the run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from soakproof.judge.evidence import Evidence
from soakproof.plain import listed
from soakproof.report.bounds import MemoryBounds
from soakproof.report.figures import style
from soakproof.report.figures.bands import draw_bands
from soakproof.report.figures.drawn import drawn, undrawn
from soakproof.report.figures.marks import marks, run_end, told
from soakproof.report.figures.series import lonely, missing_spans, thinned
from soakproof.report.page import Drawing
from soakproof.report.quantity import quantity
from soakproof.report.trace import GIB, Held, memory, trace_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME, TITLE = "resources", "Memory over the run"
_COLOURS = (style.LINE, style.SECOND, style.THIRD)
_MOST_LINES = len(_COLOURS)
_NAMED = 10


def resources(evidence: Evidence, bounds: MemoryBounds) -> Drawing:
    """Available memory, the server's private memory and GTT, each where measured and with its bound."""
    panels, missing = memory(evidence, bounds)
    if not panels:
        return undrawn(NAME, TITLE, "; ".join(missing), table=trace_table(panels))
    happened, end = marks(evidence), run_end(evidence)
    caption = _caption(panels, missing, told(happened))
    with style.theme():
        made, axes = style.figure([1.55] * len(panels))
        for ax, panel in zip(axes, panels, strict=True):
            _draw(ax, panel)
        draw_bands(axes, happened, end)
        style.time_axis(axes[-1], end)
        return drawn(made, NAME, TITLE, caption, trace_table(panels))


def _draw(ax: "Axes", panel: Held) -> None:
    ax.set_title(f"{panel.title}, GiB")
    shown = panel.lines[:_MOST_LINES]
    for (name, line), colour in zip(shown, _COLOURS, strict=False):
        points = thinned(line)
        ax.plot(points.times, points.values, color=colour, label=name)
        alone = lonely(line)
        ax.plot(alone.times, alone.values, ".", color=colour, markersize=2.5)
    for start, end in missing_spans(panel.lines[0][1])[:200]:
        ax.axvspan(start, end, color=style.GAP, alpha=0.5, linewidth=0)
    if panel.limit is not None:
        name, limit = panel.limit
        ax.axhline(limit / GIB, color=style.LIMIT, linestyle=(0, (5, 3)))
        style.note(ax, limit / GIB, f"{name} {quantity(limit, 'bytes')}", style.LIMIT)
    if len(shown) > 1:
        style.legend(ax)
    style.headroom(ax)


def _caption(panels: Sequence[Held], missing: Sequence[str], happened: str) -> str:
    said = [_extremes(panel) for panel in panels]
    if any(missing_spans(panel.lines[0][1]) for panel in panels):
        said.append("grey: no reading")
    said += [f"not measured: {why}" for why in missing]
    return f"{'; '.join((*said, happened))}."


def _extremes(panel: Held) -> str:
    each = []
    for name, line in panel.lines[:_MOST_LINES]:
        low, high = (quantity(float(v) * GIB, "bytes") for v in (line.known.min(), line.known.max()))
        label = f"{name} " if len(panel.lines) > 1 else ""
        each.append(f"{label}{low} to {high} (n {line.known.size:,})")
    limit = f", {panel.limit[0]} {quantity(panel.limit[1], 'bytes')}" if panel.limit else ""
    left = [name for name, _ in panel.lines[_MOST_LINES:]]
    others = f", not drawn for want of room: {listed(left, _NAMED)}" if left else ""
    return f"{panel.title}: {', '.join(each)}{limit}{others}"
