"""What happened to a run, as bands across a figure: faults, kernel incidents, restarts, the guard."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from soakproof.report.figures import style
from soakproof.report.figures.marks import MOST, Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 1 / 250  # of the run: the width of what took no time
_MARKERS = {"fault": "D", "kernel": "X", "restart": "v", "guard": "s"}


def draw_bands(axes: "Sequence[Axes]", happened: Sequence[Mark], end: float) -> None:
    """A band each, as wide as it lasted, with a marker and its kind's name above the first panel."""
    named: set[str] = set()
    for mark in happened[:MOST]:
        until = max(mark.until, mark.at + end * _LEAST)
        for ax in axes:
            ax.axvspan(mark.at, until, color=style.LIMIT, alpha=0.25, linewidth=0)
        top = axes[0].get_xaxis_transform()
        axes[0].plot(
            [(mark.at + until) / 2], [0.96], _MARKERS[mark.what], transform=top, color=style.LIMIT,
            markersize=5, clip_on=False, label="" if mark.what in named else mark.what,
        )  # fmt: skip
        named.add(mark.what)
    if named:
        style.legend(axes[0])
