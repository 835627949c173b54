"""The prefix cache: a long register asked about again and again, with another one in between.

Each answer is a code that is looked up in the register, so that a wrong restored prefix cannot answer it.
The register begins with a nonce, so that its first question is cold. A server that was soaked before with
the same seed may hold that very register still: then another one is dealt; the count ``cache.deals`` tells
which deal was used.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    Exchange,
    IterationContext,
    Ranges,
    Ratio,
    Register,
    Scenario,
    Script,
    Tokens,
    Yield,
    amount,
    check_code,
    is_replay,
    register,
)

Messages = tuple[tuple[str, str], ...]  # (role, text)
SHARE = 0.4  # of a slot's context that a register may fill


@dataclass(frozen=True)
class CachePair(Scenario):
    """Cold, repeated, another register, the first with another question, and back to the first question."""

    checks = ("cache.exact", "cache.restored", "cache.after_other", "cache.faster")
    registers = True
    prompt: Tokens = Tokens(1200)
    slack: Tokens = Tokens(64)  # of the question, the template's end, and what the server always does again
    faster: float = 3.0  # times less prompt work than cold, at least
    deals: int = 8  # of a register until one is cold
    holds: Tokens = Tokens(8000)  # of the host cache, where nothing is known of it
    in_system: Ratio = Ratio(0.5)  # iterations whose registers are the system prompt, the first of them
    ranges = Ranges(
        prompt=(1, 1e6), slack=(0, 1e5), faster=(1, 1000), deals=(1, 100), holds=(0, 1e7), in_system=(0, 1)
    )

    def iterate(self, it: IterationContext) -> Script:
        in_system = math.ceil((it.number + 1) * self.in_system) > math.ceil(it.number * self.in_system)
        for _ in range(self.deals):
            it.count("cache.deals")
            mine = register(it, self.prompt, asked=2, share=SHARE)
            first, second = mine.asked
            question = messages(it, mine, first, in_system)
            cold = yield from ask_exact(it, "cold", question, mine, first)
            if (cold.cached_tokens or 0) <= self.slack:
                break
        yours = register(it, self.prompt, share=SHARE)

        mark = it.tokens_seen()
        repeat = yield from ask_exact(it, "repeat", question, mine, first)
        warm = [self._check_hit(it, "cache.restored", cold, repeat, mark)]

        mark = it.tokens_seen()
        another = messages(it, yours, yours.asked[0], in_system)
        yield from ask_exact(it, "other", another, yours, yours.asked[0])
        another = messages(it, mine, second, in_system)
        changed = yield from ask_exact(it, "changed", another, mine, second)
        warm.append(self._check_hit(it, "cache.after_other", cold, changed, mark))

        mark = it.tokens_seen()
        back = yield from ask_exact(it, "back", question, mine, first)
        warm.append(self._check_hit(it, "cache.after_other", cold, back, mark))
        self._check_faster(it, cold, [answer for answer in warm if answer is not None])

    def _check_hit(
        self, it: IterationContext, name: str, cold: Exchange, again: Exchange, mark: int | None
    ) -> Exchange | None:
        """Whether the shared prefix was restored; the exchange if it was."""
        if cold.prompt_tokens is None or again.cached_tokens is None:
            it.check(name, None, again, reason="the server does not tell how many tokens it restored")
            return None
        due = cold.prompt_tokens - self.slack
        if again.cached_tokens >= due:
            it.check(name, True, again)
            return again
        if is_replay(again, cold):
            reason = f"{again.role}: the very answer to {cold.role}, out of a store: nothing was asked again"
            it.check(name, None, again, grade="stored", reason=reason)
            return None
        reason = f"{again.role}: restored {again.cached_tokens} tokens, expected {due} or more"
        before, after = prompt_ms(cold), prompt_ms(again)
        if before is not None and after is not None:
            reason += f"; prompt work {after:.0f} ms, cold {before:.0f} ms"
        between = tokens_between(it, again, mark)
        budget = self.holds if it.around.cache_tokens is None else it.around.cache_tokens
        if evictable(due, between, budget):
            reason += f"; {between} tokens went by since, and the host cache holds {budget}"
            it.check(name, None, again, grade="evicted", reason=reason)
        else:
            it.check(name, False, again, grade="partial" if again.cached_tokens else "missed", reason=reason)
        return None

    def _check_faster(self, it: IterationContext, cold: Exchange, warm: list[Exchange]) -> None:
        """The fastest hit against the cold question: a neighbour's prompt slows single ones."""
        before = prompt_ms(cold)
        after = [ms for ms in map(prompt_ms, warm) if ms is not None]
        reason = ""
        if not warm:
            reason = "nothing was restored"
        elif before is None or not after:
            reason = "the server does not tell how long it worked on the prompts"
        elif (cold.cached_tokens or 0) > self.slack:
            reason = f"the cold question was itself restored, {cold.cached_tokens} tokens of it"
        if reason or before is None:
            it.check("cache.faster", None, cold, *warm, reason=reason)
            return
        ratio = before / min(after)
        it.check(
            "cache.faster", ratio >= self.faster, cold, *warm, reason=f"{ratio:.1f} times less prompt work"
        )


def messages(it: IterationContext, asked: Register, record: str, in_system: bool) -> Messages:
    """The register and a question about it; where it is the system prompt, nothing else holds the answer."""
    if in_system:
        return (("system", asked.text), ("user", it.phrase("lookup", record=record)))
    return (("user", asked.question(it, record)),)


def ask_exact(
    it: IterationContext, role: str, question: Messages, asked: Register, record: str
) -> Generator[Yield, Exchange, Exchange]:
    """The record's code and nothing else; a wrong answer is told by where it comes from. The exchange."""
    ask = Ask(question, role=role, tokens=64)
    answer = yield ask
    of_system = {"wrong": "wrong_of_system"} if question[0][0] == "system" else {}
    yield from check_code(it, "cache.exact", ask, answer, asked, record, regrade=of_system)
    return answer


def tokens_between(it: IterationContext, again: Exchange, mark: int | None) -> int:
    """Tokens of the run's other work since the mark, this request's own left out; 0 where nobody counts."""
    seen = it.tokens_seen()
    if seen is None or mark is None:
        return 0
    return max(0, seen - mark - (again.prompt_tokens or 0) - (again.completion_tokens or 0))


def evictable(prefix: int, between: int, budget: int) -> bool:
    """Whether so much work in between may have pushed a prefix out of a host cache of that size.

    Half the budget is the limit: what lay in the other slots is kept as well, and entries cost more than
    their tokens.
    """
    return between > 0 and prefix + between > budget / 2


def prompt_ms(answer: Exchange) -> float | None:
    """The server's own time for the prompt; None for what no clock can have said."""
    return amount((answer.timings or {}).get("prompt_ms")) or None
