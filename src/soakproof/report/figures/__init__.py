"""A run's figures as SVG documents. Nothing here needs a display, a network or a writable home."""

from soakproof.judge.evidence import Evidence
from soakproof.report.bounds import NO_BOUNDS, MemoryBounds
from soakproof.report.figures.rates import generation, prompt
from soakproof.report.figures.resources import resources
from soakproof.report.figures.slots import activity
from soakproof.report.figures.waits import first_token
from soakproof.report.page import Drawing


def drawings(
    evidence: Evidence, baseline: Evidence | None = None, bounds: MemoryBounds = NO_BOUNDS
) -> tuple[Drawing, ...]:
    """Every figure with its caption, in a report's order."""
    return (
        resources(evidence, bounds),
        generation(evidence, baseline),
        prompt(evidence, baseline),
        first_token(evidence, baseline),
        activity(evidence),
    )


def figures(
    evidence: Evidence, baseline: Evidence | None = None, bounds: MemoryBounds = NO_BOUNDS
) -> dict[str, str]:
    """Name to SVG document. ``bounds`` are the policy's on memory."""
    return {made.name: made.svg for made in drawings(evidence, baseline, bounds)}
