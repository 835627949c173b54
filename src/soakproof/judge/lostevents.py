"""Events against tokens: those that were lost on their way, and those that came twice. Pure; no I/O.

llama.cpp sends an event a token, and the last token of an answer that ends by itself has no text. Where that
holds of nearly all such answers, a forced one with fewer events than tokens has lost some on their way. Or
its model wrote tokens that have no text, as a small one may when it is not let end: so only many weigh.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from soakproof.columns import Array, Table
from soakproof.records import Exchange

FEWEST = 20  # answers, for a habit
FIRM = 0.95  # of them, that agree
LOST = 2  # tokens beyond the habit
LEAST_FORCED = 5  # answers, whose events are compared with their tokens
OVER = 8  # tokens without text, in an answer that ended by itself
SOME = 0.25  # of the answers: what is in more of them is the server's way of counting


def countable(table: Table[Exchange]) -> Table[Exchange]:
    """Answers each of whose tokens should have come as an event of plain text."""
    counted = table.where(table.whole & table["stream"] & ~np.isnan(table["completion_tokens"]))
    return counted.where(counted.fact("is_plain"))


def is_forced(counted: Table[Exchange]) -> NDArray[np.bool_]:
    """Which countable answers came up to their limit, and all of it was counted."""
    return np.asarray(counted["finish_reason"] == "length", bool)


def lost_events(counted: Table[Exchange]) -> dict[str, str]:
    """Forced answers with fewer events than their tokens have pieces of text, by id, each with a detail."""
    ended = counted.where(counted["finish_reason"] == "stop")
    if len(ended) < FEWEST:
        return {}
    (habit, agree), *_ = Counter(_without_text(ended).tolist()).most_common(1)
    if agree < FIRM * len(ended):
        return {}
    forced = counted.where(is_forced(counted))
    return _told(forced.where(_without_text(forced) - _split(forced) >= habit + LOST))


def doubled_events(counted: Table[Exchange]) -> dict[str, str]:
    """Answers with more events than tokens, by id, of a server that as a rule sends no more; none else."""
    more = counted.where(_without_text(counted) < 0)
    if len(counted) < FEWEST or len(more) > SOME * len(counted):
        return {}
    return {e.id: f"{e.token_events} events for {e.completion_tokens} tokens" for e in more.records}


def overcounted(counted: Table[Exchange]) -> dict[str, str]:
    """Answers that ended by themselves with far more tokens than events, by id, of a server whose forced
    answers have an event for each token: it counts otherwise, or text was lost.
    """
    forced = counted.where(is_forced(counted))
    even = int((_without_text(forced) - _split(forced) <= LOST).sum())
    if len(forced) < LEAST_FORCED or even < FIRM * len(forced):
        return {}
    ended = counted.where(counted["finish_reason"] == "stop")
    far = _without_text(ended) - _split(ended) > np.maximum(OVER, ended["token_events"] / 2)
    return _told(ended.where(far))


def _told(answers: Table[Exchange]) -> dict[str, str]:
    return {e.id: f"{e.completion_tokens} tokens in {e.token_events} events" for e in answers.records}


def _without_text(counted: Table[Exchange]) -> Array:
    return counted["completion_tokens"] - counted["token_events"]


def _split(counted: Table[Exchange]) -> Array:
    """Tokens that may have only a part of a character, at most: an event has whole ones."""
    return np.asarray(counted.fact("more_bytes"), np.int64)
