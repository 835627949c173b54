"""Answers that came as reasoning, of a model that does not reason: moved on the way. Pure; no I/O."""

from collections.abc import Iterable, Sequence

from soakproof.judge.claims import whole
from soakproof.records import Exchange, Failure

LEAST_OTHERS = 3  # answers of the kind that came as content, none of them with reasoning
LONGER = 1.5  # times the longest of those: the answer alone, not thoughts about it
_WITHOUT_ANSWER = (Failure.EMPTY, Failure.BUDGET)


def misplaced(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """Those without content whose answer stands in the reasoning, where no other of their kind reasoned.

    At least one must be told exactly by its own secret: else it may be the model's own slip.
    """
    moved: dict[str, list[Exchange]] = {}
    others: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        if exchange.failure in _WITHOUT_ANSWER and exchange.reasoning and not exchange.text:
            moved.setdefault(exchange.scenario, []).append(exchange)
        elif whole(exchange) and exchange.text:
            others.setdefault(exchange.scenario, []).append(exchange)
    found: list[Exchange] = []
    is_exact = False
    for kind, those in moved.items():
        answers = others.get(kind, [])
        if len(answers) >= LEAST_OTHERS and not any(e.reasoning for e in answers):
            is_exact = is_exact or any(_is_exact(e, answers) for e in those)
            found += those
    return found if is_exact else []


def _is_exact(exchange: Exchange, others: Sequence[Exchange]) -> bool:
    said = exchange.reasoning.strip()
    return said.startswith(exchange.secrets) and len(said) <= LONGER * max(len(e.text) for e in others)
