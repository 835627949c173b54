"""Prompts that several scenarios ask: registers of records, and prose. Pure, drawn by ``it``.

The words are in scenarios/prompts/*.txt; here is only how they are put together.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from soakproof.context import IterationContext

FEWEST_RECORDS = 6


@dataclass(frozen=True, slots=True)
class Register:
    """A list of records, each with a code. It begins with a nonce, so no two share their beginning."""

    text: str
    codes: Mapping[str, str]  # of every record, by its number
    asked: Sequence[str]  # numbers of the records to ask for, from all parts of the register

    def question(self, it: IterationContext, record: str) -> str:
        """The register, then a question whose only right answer is that record's code."""
        return f"{self.text}\n\n{it.phrase('lookup', record=record)}"


def register(it: IterationContext, tokens: int, *, asked: int = 1, share: float = 0.5) -> Register:
    """A register of about so many tokens, at most ``share`` of a slot's context.

    ``asked`` records are chosen from as many equal parts of it, so that its beginning, middle and end are
    all asked for. Only their codes are remembered as secrets: a long soak's memory stays small.
    """
    room = it.chars(tokens, share)
    head = f"Register {it.nonce()}. {it.phrase('register_head')}"
    first = it.draw.randrange(2)
    lines: list[str] = []
    codes: dict[str, str] = {}
    while room > 0 or len(lines) < max(FEWEST_RECORDS, asked):
        record = f"{first + len(lines):04d}"
        codes[record] = it.code(secret=False)
        lines.append(_line(it, record, codes[record]))
        room -= len(lines[-1]) + 1
    chosen = _one_of_each_part(it, codes, asked)
    for record in chosen:
        it.remember(codes[record])
    return Register("\n".join([head, "", *lines]), codes, chosen)


def _line(it: IterationContext, record: str, code: str) -> str:
    place, keeper, status = (it.draw.choice(it.lines(c)) for c in ("places", "keepers", "statuses"))
    return it.phrase("register_line", record=record, place=place, keeper=keeper, code=code, status=status)


def _one_of_each_part(it: IterationContext, codes: Mapping[str, str], parts: int) -> list[str]:
    """The record of each part whose code is least like any other: a model may slip from one into another."""
    pairs = Counter(pair for code in codes.values() for pair in itertools.pairwise(code))

    def likeness(record: str) -> int:
        return sum(pairs[pair] - 1 for pair in itertools.pairwise(codes[record]))

    records = list(codes)
    edges = [len(records) * n // parts for n in range(parts + 1)]
    chosen = [min(records[a:b], key=likeness) for a, b in itertools.pairwise(edges)]
    it.draw.shuffle(chosen)
    return chosen


def prose(it: IterationContext) -> str:
    """Asks for prose that goes on and on; its nonce sets it apart from every other request."""
    return f"Request {it.nonce()}. {it.phrase('prose', theme=it.draw.choice(it.lines('themes')))}"


def prose_above(it: IterationContext, tokens: int, share: float = 0.5) -> str:
    """The same after a register of about so many tokens."""
    return f"{register(it, tokens, share=share).text}\n\n{it.phrase('prose_above')}"
