"""Events against tokens: those that were lost on their way, and those that came twice. Pure; no I/O.

llama.cpp sends an event a token, and the last token of an answer that ends by itself has no text. Where that
holds of nearly all such answers, a forced one with fewer events than tokens has lost some on their way. Or
its model wrote tokens that have no text, as a small one may when it is not let end: so only many weigh.
"""

from collections import Counter
from collections.abc import Sequence

from soakproof.judge.claims import whole
from soakproof.records import Exchange

FEWEST = 20  # answers, for a habit
FIRM = 0.95  # of them, that agree
LOST = 2  # tokens beyond the habit
LEAST_FORCED = 5  # answers, whose events are compared with their tokens
OVER = 8  # tokens without text, in an answer that ended by itself
SOME = 0.25  # of the answers: what is in more of them is the server's way of counting
MARKS = frozenset("<>[]{}|`")  # a server holds them back in case that they begin a tool call or reasoning


def forced(exchange: Exchange) -> bool:
    """Whether it came as a stream of plain text up to its limit, and all of it was counted."""
    return countable(exchange) and exchange.finish_reason == "length"


def lost_events(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Forced answers with fewer events than their tokens have pieces of text, by id, each with a detail."""
    ended = [_without_text(e) for e in exchanges if countable(e) and e.finish_reason == "stop"]
    if len(ended) < FEWEST:
        return {}
    (habit, agree), *_ = Counter(ended).most_common(1)
    if agree < FIRM * len(ended):
        return {}
    return {
        e.id: f"{e.completion_tokens} tokens in {e.token_events} events"
        for e in exchanges
        if forced(e) and _without_text(e) - _split(e.text) >= habit + LOST
    }


def doubled_events(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Answers with more events than tokens, by id, of a server that as a rule sends no more; none else."""
    counted = [e for e in exchanges if countable(e)]
    more = [e for e in counted if _without_text(e) < 0]
    if len(counted) < FEWEST or len(more) > SOME * len(counted):
        return {}
    return {e.id: f"{e.token_events} events for {e.completion_tokens} tokens" for e in more}


def overcounted(exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Answers that ended by themselves with far more tokens than events, by id, of a server whose forced
    answers have an event for each token: it counts otherwise, or text was lost.
    """
    limited = [e for e in exchanges if forced(e)]
    even = sum(_without_text(e) - _split(e.text) <= LOST for e in limited)
    if len(limited) < LEAST_FORCED or even < FIRM * len(limited):
        return {}
    return {
        e.id: f"{e.completion_tokens} tokens in {e.token_events} events"
        for e in exchanges
        if countable(e)
        and e.finish_reason == "stop"
        and _without_text(e) - _split(e.text) > max(OVER, e.token_events / 2)
    }


def countable(exchange: Exchange) -> bool:
    """Whether each of its tokens should have come as an event of plain text."""
    return (
        whole(exchange)
        and exchange.stream
        and exchange.completion_tokens is not None
        and not exchange.reasoning
        and not exchange.tool_calls
        and MARKS.isdisjoint(exchange.text)
    )


def _without_text(exchange: Exchange) -> int:
    return (exchange.completion_tokens or 0) - exchange.token_events


def _split(text: str) -> int:
    """Tokens that may have only a part of a character, at most: an event has whole ones."""
    return len(text.encode("utf-8", "replace")) - len(text)
