"""What figures with a row or a panel for each kind share: their bounds and their words. No I/O."""

from collections.abc import Sequence

from soakproof.judge.evidence import Evidence
from soakproof.judge.repeats import apart, by_run
from soakproof.metrics import METRICS
from soakproof.report.figures.drawn import undrawn
from soakproof.report.page import Drawing

MOST_KINDS = 8
MOST_POINTS = 400  # of one kind


def median_of(metric: str, evidence: Evidence | None, kind: str) -> float | None:
    """The median of a kind's answers, of a baseline of several runs that of their medians; None where nothing
    was measured, or there is no evidence.
    """
    found = by_run(metric, evidence, kind)
    return apart(found).level if found else None


def nothing(name: str, title: str, metric: str, evidence: Evidence) -> Drawing:
    """The figure of a metric that no answer has."""
    closed = len(evidence.exchange_table)
    why = f"none of {closed:,} answers could be measured" if closed else "no request was answered"
    caption = f"Not measured: {why}; left out are {METRICS[metric].leaves_out}."
    return undrawn(name, title, why, caption)


def sentence(told: Sequence[str], unmeasured: Sequence[str], measured: Sequence[str]) -> str:
    """A caption of what was told, the kinds without a measurement, and those for which there was no room."""
    left_out = measured[MOST_KINDS:]
    more = list(told)
    if unmeasured:
        more.append(f"not measured: {', '.join(unmeasured)}")
    if left_out:
        more.append(f"not drawn for want of room: {', '.join(left_out)}")
    caption = "; ".join(more)
    return f"{caption[:1].upper()}{caption[1:]}."
