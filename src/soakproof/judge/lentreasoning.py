"""Reasoning that is another's answer, of a model that seldom reasons: moved on the way. Pure; no I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.records import Exchange

PIECE = 60  # characters in a row that two answers share by no chance
SELDOM = 0.25  # of the answers; a model that reasons as a rule thinks of what others are told as well


@dataclass(frozen=True, slots=True)
class Lent:
    """An answer whose reasoning has a piece of another's text."""

    reader: Exchange
    owner: Exchange


def lent(exchanges: Sequence[Exchange]) -> list[Lent]:
    """Each answer with such reasoning, once, with the nearest answer before it that has that text."""
    answered = [e for e in exchanges if e.text]
    thinking = [e for e in exchanges if len(e.reasoning) >= PIECE]
    if len(thinking) > SELDOM * len(answered):
        return []
    found = []
    for reader in thinking:
        pieces = [p for p in (reader.reasoning[:PIECE], reader.reasoning[-PIECE:]) if p not in reader.text]
        owners = [
            o for o in answered if o.sent_ns <= reader.done_ns and o.prompt_digest != reader.prompt_digest
        ]
        owner = next((o for o in reversed(owners) if any(piece in o.text for piece in pieces)), None)
        if owner:
            found.append(Lent(reader, owner))
    return found
