"""A conversation is left alone while others go through, comes back, and must find its own memory.

Its system prompt has a secret, its first message a long register. What a server keeps of it is pushed out of
its slot by a few others, then out of its caches by many, and is restored or computed anew: either is right.
What it answers must stand in its own register; and nobody who came in between may be told of it, nor it of
them. The time that it waits is made by the others, not by a clock.
"""

from collections.abc import Generator
from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    Exchange,
    IterationContext,
    Ranges,
    Register,
    Scenario,
    Script,
    Tokens,
    Yield,
    check_code,
    register,
)

SHARE = 0.4  # of a slot's context that a register may fill
Turns = list[tuple[str, str]]


@dataclass(frozen=True)
class Returning(Scenario):
    """Asked first, again after as many others as there are slots, and late after many more."""

    checks = ("returning.first", "returning.again", "returning.late", "returning.others", "returning.foreign")
    registers = True
    prompt: Tokens = Tokens(1200)  # of its register
    other: Tokens = Tokens(800)  # of each other's register
    flood: Tokens = Tokens(8000)  # of all others before it comes back late
    slack: Tokens = Tokens(64)  # restored of a conversation that was pushed out: a template's beginning
    ranges = Ranges(prompt=(1, 1e6), other=(1, 1e6), flood=(0, 1e7), slack=(0, 1e5))

    def iterate(self, it: IterationContext) -> Script:
        mine = register(it, self.prompt, asked=3, share=SHARE)
        system = it.phrase("system_secret", secret=it.nonce())
        turns: Turns = [("system", system), ("user", mine.question(it, mine.asked[0]))]
        said = yield from ask(it, "first", turns, mine, mine.asked[0])
        mine_said = [said]

        others: list[Exchange] = []
        floods = {"again": it.around.slots, "late": -(-self.flood // it.tokens(self.other, share=SHARE))}
        for (phase, many), record in zip(floods.items(), mine.asked[1:], strict=True):
            others += yield from self._others(it, many)
            turns += [("assistant", said.text), ("user", it.phrase("lookup", record=record))]
            said = yield from ask(it, phase, turns, mine, record)
            mine_said.append(said)
            pushed_out = said.cached_tokens is not None and said.cached_tokens <= self.slack
            it.count(f"returning.pushed_out_{phase}", int(pushed_out))

        leaked = it.foreign(*mine_said, *others)
        it.check("returning.foreign", not leaked, *mine_said, *others, reason=", ".join(sorted(leaked)))

    def _others(self, it: IterationContext, many: int) -> Generator[Yield, Exchange, list[Exchange]]:
        """Others, one after another: each has a secret and a register of its own."""
        answers = []
        for _ in range(many):
            made = register(it, self.other, share=SHARE)
            system = it.phrase("system_secret", secret=it.nonce())
            turns = [("system", system), ("user", made.question(it, made.asked[0]))]
            answers.append((yield from ask(it, "other", turns, made, made.asked[0])))
        return answers


def ask(
    it: IterationContext, role: str, turns: Turns, made: Register, record: str
) -> Generator[Yield, Exchange, Exchange]:
    """Ask for the code that stands in the conversation's own register, and nothing else; the exchange."""
    question = Ask(tuple(turns), role=role, tokens=64)
    said = yield question
    check = f"returning.{'others' if role == 'other' else role}"
    yield from check_code(it, check, question, said, made, record)
    return said
