"""Reasoning that is another's answer, of a model that seldom reasons: moved on the way. Pure; no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from soakproof.columns import Table
from soakproof.records import Exchange

PIECE = 60  # characters in a row that two answers share by no chance
SELDOM = 0.25  # of the answers; a model that reasons as a rule thinks of what others are told as well


@dataclass(frozen=True, slots=True)
class Lent:
    """An answer whose reasoning has a piece of another's text."""

    reader: Exchange
    owner: Exchange


def lent(table: Table[Exchange]) -> list[Lent]:
    """Each answer with such reasoning, once, with the nearest answer before it that has that text."""
    thinking = np.flatnonzero(table.fact("reasoning_chars") >= PIECE).tolist()
    if not thinking or len(thinking) > SELDOM * table.fact("has_text").sum():
        return []
    owners = _owners(table, {reader: _pieces(table.records[reader]) for reader in thinking})
    return [Lent(table.records[n], table.records[owners[n]]) for n in thinking if n in owners]


def _pieces(reader: Exchange) -> list[str]:
    return [p for p in (reader.reasoning[:PIECE], reader.reasoning[-PIECE:]) if p not in reader.text]


def _owners(table: Table[Exchange], pieces: Mapping[int, Sequence[str]]) -> dict[int, int]:
    """Readers with their owners, by their places in the table. All texts are gone through once, from the
    latest on.
    """
    sent, done, prompt = (table[name].tolist() for name in ("sent_ns", "done_ns", "prompt_digest"))
    found: dict[int, int] = {}
    waiting = {reader for reader, those in pieces.items() if those}
    for owner in reversed(np.flatnonzero(table.fact("text_chars") >= PIECE).tolist()):
        if not waiting:
            break
        text = table.records[owner].text
        others = (r for r in waiting if sent[owner] <= done[r] and prompt[owner] != prompt[r])
        readers = [r for r in others if any(piece in text for piece in pieces[r])]
        found |= dict.fromkeys(readers, owner)
        waiting.difference_update(readers)
    return found
