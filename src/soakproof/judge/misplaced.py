"""Answers that came as reasoning, of a model that does not reason: moved on the way. Pure; no I/O."""

import numpy as np

from soakproof.columns import Table
from soakproof.records import Exchange, Failure

LEAST_OTHERS = 3  # answers of the kind that came as content, none of them with reasoning
LONGER = 1.5  # times the longest of those: the answer alone, not thoughts about it
_WITHOUT_ANSWER = (Failure.EMPTY, Failure.BUDGET)


def misplaced(table: Table[Exchange]) -> list[Exchange]:
    """Those without content whose answer stands in the reasoning, where no other of their kind reasoned.

    At least one must be told exactly by its own secret: else it may be the model's own slip.
    """
    reasoned, has_text = table.fact("reasoning_chars") > 0, table.fact("has_text")
    without = np.isin(table["failure"], np.array(_WITHOUT_ANSWER, object))
    moved = table.where(without & reasoned & ~has_text)
    if not len(moved):
        return []
    others = table.where(table.whole & has_text)
    found: list[Exchange] = []
    is_exact = False
    for kind in dict.fromkeys(moved["scenario"].tolist()):
        those = moved.where(moved["scenario"] == kind).records
        answers = others.where(others["scenario"] == kind)
        if len(answers) >= LEAST_OTHERS and not (answers.fact("reasoning_chars") > 0).any():
            longest = max(answers.fact("text_chars"))
            is_exact = is_exact or any(_is_exact(e, longest) for e in those)
            found += those
    return found if is_exact else []


def _is_exact(exchange: Exchange, longest: int) -> bool:
    said = exchange.reasoning.strip()
    return said.startswith(exchange.secrets) and len(said) <= LONGER * longest
