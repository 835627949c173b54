"""What a scenario made of spoiled answers, as the evidence that adjudicators judge."""

from collections.abc import Iterable

from playing import Played

from soakproof.judge import Finding
from soakproof.records import Check, Exchange
from soakproof.testing.evidence import adjudicate, evidence


def records(played: Played, kind: str, number: int = 0) -> list[Check | Exchange]:
    """The checks and exchanges of an iteration; ids are made unique in the run."""
    checks = [c.record(node="load", t_ns=0, scenario=kind, iteration=number) for c in played.result.checked]
    return [*checks, *played.exchanges]


def judged(name: str, *iterations: Iterable[Check | Exchange]) -> dict[str, Finding]:
    """What an adjudicator finds in them."""
    return adjudicate(name, evidence(*iterations))
