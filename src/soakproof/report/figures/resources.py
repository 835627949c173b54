"""Figure 1: available memory, and what the server and the GPU hold, over the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Numbers, held, reading
from soakproof.plain import listed
from soakproof.report.bounds import MemoryBounds
from soakproof.report.figures import style
from soakproof.report.figures.marks import run_end
from soakproof.report.figures.series import (
    Series,
    lonely,
    missing_spans,
    of_samples,
    thinned,
)
from soakproof.report.figures.svg import empty, finish
from soakproof.report.page import Drawing
from soakproof.report.quantity import quantity
from soakproof.samples import Readings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME, TITLE = "resources", "Memory over the run"

_GIB = 2**30
_COLOURS = (style.LINE, style.SECOND, style.THIRD)
_MOST_LINES = len(_COLOURS)
_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Panel:
    title: str
    lines: tuple[tuple[str, Series], ...]  # name and GiB over time
    limit: tuple[str, float] | None  # what it is called, and bytes
    others: tuple[str, ...] = ()  # sources with readings for which there is no room


def resources(evidence: Evidence, bounds: MemoryBounds) -> Drawing:
    """Available memory, the server's private memory and GTT, each where measured and with its bound."""
    panels, missing = _panels(evidence, bounds)
    if not panels:
        why = "; ".join(missing)
        return Drawing(NAME, TITLE, f"Not measured: {why}.", empty(NAME, TITLE, why))
    caption = _caption(panels, missing)
    with style.theme():
        made, axes = style.figure([1.55] * len(panels))
        for ax, panel in zip(axes, panels, strict=True):
            _draw(ax, panel)
        style.time_axis(axes[-1], run_end(evidence))
        return Drawing(NAME, TITLE, caption, finish(made, NAME, TITLE, caption))


def _panels(evidence: Evidence, bounds: MemoryBounds) -> tuple[list[_Panel], list[str]]:
    """The panels that hold anything, and for each that does not, why."""
    roles = [s for s in evidence.samples if s.startswith("process:")]
    cards = [s for s in evidence.samples if s.startswith("amdgpu")]
    gtt = reading("gtt_used_bytes")
    wanted: tuple[tuple[str, list[str], Numbers, str, float | None], ...] = (
        ("Available memory of the host", ["memory"], reading("available_bytes"), "floor", bounds.floor),
        ("Private memory of the server (RssAnon and swap)", roles, held, "", None),
        ("GTT in use", cards, gtt, "ceiling", bounds.gtt_ceiling),
    )
    panels, missing = [], []
    for title, sources, value, name, limit in wanted:
        lines = tuple((s, _gib(evidence.source(s), value)) for s in sources)
        there = tuple((source, line) for source, line in lines if line)
        if there:
            others = tuple(source for source, _ in there[_MOST_LINES:])
            bound = None if limit is None else (name, limit)
            panels.append(_Panel(title, there[:_MOST_LINES], bound, others))
        else:
            missing.append(f"{title}: {_why(evidence, sources)}")
    return panels, missing


def _gib(told: Readings, numbers: Numbers) -> Series:
    return of_samples(told, lambda readings: numbers(readings) / _GIB)


def _why(evidence: Evidence, sources: Sequence[str]) -> str:
    """Why these sources have no value, in their own words."""
    there = [evidence.samples[source] for source in sources if source in evidence.samples]
    if not there:
        return "no such source was sampled"
    silent = next((bad[0] for told in there if len(bad := told.without_value())), None)
    if silent is None:
        return "its readings lack this value"
    return f"{silent.state} ({silent.reason})" if silent.reason else silent.state


def _draw(ax: "Axes", panel: _Panel) -> None:
    ax.set_title(panel.title)
    ax.set_ylabel("GiB")
    for (name, line), colour in zip(panel.lines, _COLOURS, strict=False):
        shown = thinned(line)
        ax.plot(shown.times, shown.values, color=colour, label=name)
        alone = lonely(line)
        ax.plot(alone.times, alone.values, ".", color=colour, markersize=2.5)
    for start, end in missing_spans(panel.lines[0][1])[:200]:
        ax.axvspan(start, end, color=style.GAP, alpha=0.5, linewidth=0)
    if panel.limit is not None:
        name, limit = panel.limit
        ax.axhline(limit / _GIB, color=style.LIMIT, linestyle=(0, (5, 3)))
        style.note(ax, limit / _GIB, f"{name} {quantity(limit, 'bytes')}", style.LIMIT)
    if len(panel.lines) > 1:
        style.legend(ax)
    style.headroom(ax)


def _caption(panels: Sequence[_Panel], missing: Sequence[str]) -> str:
    told = [_extremes(panel) for panel in panels]
    if any(missing_spans(panel.lines[0][1]) for panel in panels):
        told.append("grey: no reading")
    told += [f"not measured: {why}" for why in missing]
    return f"{'; '.join(told)}."


def _extremes(panel: _Panel) -> str:
    each = []
    for name, line in panel.lines:
        low, high = (quantity(float(v) * _GIB, "bytes") for v in (line.known.min(), line.known.max()))
        label = f"{name} " if len(panel.lines) > 1 else ""
        each.append(f"{label}{low} to {high} (n {line.known.size:,})")
    limit = f", {panel.limit[0]} {quantity(panel.limit[1], 'bytes')}" if panel.limit else ""
    others = f", not drawn for want of room: {listed(panel.others, _NAMED)}" if panel.others else ""
    return f"{panel.title}: {', '.join(each)}{limit}{others}"
