"""A run's figures as SVG documents. Nothing here needs a display, a network or a writable home."""

from soakproof.judge.evidence import Evidence
from soakproof.report.figures.rates import first_token, generation
from soakproof.report.figures.resources import resources
from soakproof.report.figures.slots import activity
from soakproof.report.page import Drawing


def drawings(
    evidence: Evidence, baseline: Evidence | None = None, floor_bytes: float | None = None
) -> tuple[Drawing, ...]:
    """Every figure with its caption, in a report's order."""
    return (
        resources(evidence, floor_bytes),
        generation(evidence, baseline),
        first_token(evidence, baseline),
        activity(evidence),
    )


def figures(
    evidence: Evidence, baseline: Evidence | None = None, floor_bytes: float | None = None
) -> dict[str, str]:
    """Name to SVG document. ``floor_bytes`` is the policy's floor of available memory."""
    return {made.name: made.svg for made in drawings(evidence, baseline, floor_bytes)}
