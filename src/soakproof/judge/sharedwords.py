"""Stretches of words that two drawn answers have in common: a piece of one in the other. Pure; no I/O.

No two texts that were drawn at a temperature have forty words in a row in common by chance, not even those of
a very small model with few phrasings (fewer than fifteen in soaks of the testbed). A model that knows a text
by heart, or is asked for one thing again and again, may: so this is a doubt, and no proof.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from soakproof.columns import Table
from soakproof.judge.origins import DRAWN_AT
from soakproof.records import Exchange

WORDS = 40  # in a row
VARIED = 24  # different ones: what goes round in circles may come twice
_BLOCK = WORDS // 2  # any such row has one whole block of an answer that is cut into blocks
_Blocks = dict[int, tuple[int, int]]  # a block's hash to its answer's place in the table, and its own in that
_FACTORS = np.array([pow(6364136223846793005, n, 2**64) for n in range(_BLOCK)], np.uint64)


@dataclass(frozen=True)
class Shared:
    """A row of words in two answers to different prompts; the reader's ended later."""

    reader: Exchange
    owner: Exchange
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Text:
    place: int
    words: list[str]
    hashes: NDArray[np.uint64]  # of the row of a block's length that begins with each word


def shared_words(table: Table[Exchange]) -> list[Shared]:
    """Of each drawn answer the first long row of words that an earlier one has as well, in order of ends."""
    blocks: _Blocks = {}
    found: list[Shared] = []
    for text in _drawn(table):
        found += _first(table, text, blocks)
        for at in range(0, len(text.hashes), _BLOCK):
            blocks.setdefault(int(text.hashes[at]), (text.place, at))
    return found


def _drawn(table: Table[Exchange]) -> Iterator[_Text]:
    """One after another, as the words of a day's answers are many."""
    numbers: dict[str, int] = {}
    long = table.fact("text_chars") >= 2 * WORDS - 1
    drawn = np.flatnonzero((table["temperature"] >= DRAWN_AT) & long)
    for place in drawn[np.argsort(table["done_ns"][drawn], kind="stable")].tolist():
        words = table.records[place].text.split()
        if len(words) >= WORDS:
            each = np.array([numbers.setdefault(word, len(numbers) + 1) for word in words], np.uint64)
            yield _Text(place, words, sliding_window_view(each, _BLOCK) @ _FACTORS)


def _first(table: Table[Exchange], text: _Text, blocks: _Blocks) -> Iterator[Shared]:
    known = blocks.keys() & set(text.hashes.tolist())
    prompts, words = table["prompt_digest"], dict[int, list[str]]()
    for at in np.flatnonzero(np.isin(text.hashes, np.array(list(known), np.uint64))) if known else ():
        other, place = blocks[int(text.hashes[at])]
        if prompts[other] == prompts[text.place]:
            continue
        if other not in words:
            words[other] = table.records[other].text.split()
        row = _row(text.words, int(at), words[other], place)
        if len(row) >= WORDS and len(set(row)) >= VARIED:
            yield Shared(table.records[text.place], table.records[other], tuple(row))
            return


def _row(words: Sequence[str], at: int, others: Sequence[str], place: int) -> Sequence[str]:
    """All the words around two places that are the same."""
    begin = 0
    while begin < min(at, place) and words[at - begin - 1] == others[place - begin - 1]:
        begin += 1
    end = 0
    while end < min(len(words) - at, len(others) - place) and words[at + end] == others[place + end]:
        end += 1
    return words[at - begin : at + end]
