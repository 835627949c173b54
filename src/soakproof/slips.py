"""Whether a wrong answer is the model's own slip, which comes again, or something that was done to it. Pure.

Any model misreads something at some time, a letter of a code or some words of a line. At temperature 0 it
does so again whenever that question is computed anew. What a server spoils (a prefix restored for another
prompt, a neighbour's words, a slot that computes wrong) does not come again that way.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from soakproof.context import IterationContext
from soakproof.records import Exchange
from soakproof.replays import is_replay

if TYPE_CHECKING:
    from soakproof.scenario import Ask, Yield

ANEW = {"cache_prompt": False}  # llama.cpp: compute the whole prompt, restore nothing of it
CHARACTERS = 2  # that a model slips in, of a code
MISREAD = 3  # one word of so many, of a line; it may garble several in a row
RESTORED = 16  # tokens of a prompt that is computed anew all the same: a template's beginning
_SPACE, _GAPS = re.compile(r"\s"), re.compile(r"\s+")
_WRITTEN = {" ", "\n"}


def excuse_slip(
    it: IterationContext, ask: "Ask", said: Exchange, want: str
) -> Generator["Yield", Exchange, None]:
    """Where ``said``, the answer to ``ask`` that has just failed a check, misses ``want`` as narrowly as a
    model slips, ask again; and where the same comes, computed anew, make that check unknown, grade slip.

    One that max_tokens cut is no slip. It fails until then, and for good where the run ends meanwhile, where
    it cannot be asked that way, or where the server does not show that it computed the prompt anew. Raises
    ValueError where the last check has not failed, or is about another answer.
    """
    if not it.checked or it.checked[-1].outcome is not False or said.id not in it.checked[-1].exchanges:
        raise ValueError("excuse_slip: expected right after a check of that answer which failed")
    if said.finish_reason == "length" or not is_near(said.text.strip(), want):
        return
    failed = it.checked.pop()
    it.doubted.append(failed)
    more = {**(ask.more or {}), **ANEW}
    again = yield replace(ask, role=f"{ask.role}-anew", more=more, may_fail=True, refused=True)
    it.doubted.remove(failed)
    is_slip = _is_the_same_anew(said, again)
    it.checked.append(replace(failed, outcome=None, grade="slip") if is_slip else failed)


def _is_the_same_anew(said: Exchange, again: Exchange) -> bool:
    if again.outcome != "ok" or again.failure is not None or again.text != said.text:
        return False
    is_anew = again.cached_tokens is not None and again.cached_tokens <= RESTORED
    return is_anew and not is_replay(again, said)


def is_near(text: str, want: str) -> bool:
    """Whether up to a third of several words are others, missing or too many, or one space between them is a
    line break or the other way round; of a single word, up to two characters.
    """
    if not set(_SPACE.findall(text)) <= _WRITTEN:  # no model of ours writes such, so something put it there
        return False
    if len(want.split()) > 1:
        if text.split() == want.split():
            gaps = zip(_GAPS.findall(text), _GAPS.findall(want), strict=False)
            return len([1 for a, b in gaps if a != b]) == 1
        return _is_within(text.split(), want.split(), max(1, len(want.split()) // MISREAD))
    return text != want and _is_within(text, want, min(CHARACTERS, len(want) // 4))


def _is_within(found: Sequence[str], want: Sequence[str], edits: int) -> bool:
    """Whether so many parts replaced, left out or added make one of the other (Levenshtein's distance)."""
    if abs(len(found) - len(want)) > edits:
        return False
    row = list(range(len(want) + 1))
    for n, part in enumerate(found, 1):
        before, row[0] = row[0], n
        for m, due in enumerate(want, 1):
            before, row[m] = row[m], min(before + (part != due), row[m] + 1, row[m - 1] + 1)
    return row[-1] <= edits
