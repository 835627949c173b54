"""Whether a finding is one: its fields hold what every reader of a verdict expects. No I/O."""

import math
from collections.abc import Iterator

from soakproof.judge.finding import Figure, Finding, Outcome
from soakproof.plain import plain

_TEXTS = ("subject", "question", "answer", "limit", "limit_source", "strength", "fault")


def malformed(finding: object) -> str:
    """The first thing that is wrong with what an adjudicator found; empty for a finding."""
    if not isinstance(finding, Finding):
        return f"expected a Finding, found {_told(finding)}"
    return next(_wrong(finding), "")


def _wrong(finding: Finding) -> Iterator[str]:
    for name in _TEXTS:
        if not isinstance(value := getattr(finding, name), str):
            yield f"{name}: expected a text, found {_told(value)}"
    if not isinstance(finding.outcome, Outcome):
        yield f"outcome: expected an Outcome, such as Outcome.PASS, found {_told(finding.outcome)}"
    if not isinstance(finding.critical, bool):
        yield f"critical: expected True or False, found {_told(finding.critical)}"
    if not _is_list_of(finding.exchanges, str):
        yield f"exchanges: expected a tuple of ids, found {_told(finding.exchanges)}"
    if finding.span is not None and not _is_span(finding.span):
        yield f"span: expected two numbers of seconds, found {_told(finding.span)}"
    if not _is_list_of(finding.figures, Figure):
        yield f"figures: expected a tuple of figures, found {_told(finding.figures)}"
    else:
        yield from (wrong for figure in finding.figures for wrong in _wrong_in(figure))


def _wrong_in(figure: Figure) -> Iterator[str]:
    for name in ("name", "unit", "note"):
        if not isinstance(value := getattr(figure, name), str):
            yield f"a figure's {name}: expected a text, found {_told(value)}"
    for name in ("value", "n", "baseline"):
        value = getattr(figure, name)
        if value is not None and not _is_number(value):
            yield f"a figure's {name}: expected a finite number or None, found {_told(value)}"


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, (tuple, list)) and all(isinstance(item, kind) for item in value)


def _is_span(value: object) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_number, value))


def _is_number(value: object) -> bool:
    """Whether it is one that JSON can hold."""
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:  # an int that no float holds
        return False


def _told(value: object) -> str:
    try:
        return plain(repr(value), 60)
    except Exception:
        return f"a {type(value).__name__}"
