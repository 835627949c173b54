"""A burst on a cold prefix: several clients at the same instant, one long register, a question each.

The register is new, so that none of them finds it computed: a server that hands out a prefix before it is
whole answers some of the first burst wrong, and none of the next. So the cold burst and the warm one after it
are checked apart. A server that was soaked before with the same seed may hold that very register still: then
another one is dealt.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    Exchange,
    IterationContext,
    Ranges,
    Register,
    Scenario,
    Script,
    Together,
    Tokens,
    Yield,
    check_code,
    register,
)

SHARE = 0.6  # of a slot's context that the register may fill


@dataclass(frozen=True)
class SharedPrefix(Scenario):
    """The same register at the same instant from each client with a question of its own: cold, then warm."""

    checks = ("prefix.cold", "prefix.warm")
    registers = True
    clients: int = 2  # at most as many as there are slots are asked
    prompt: Tokens = Tokens(1200)  # of the register
    slack: Tokens = Tokens(64)  # restored of a prompt that is cold all the same: a template's beginning
    deals: int = 8  # of a register until one is cold
    ranges = Ranges(clients=(2, 256), prompt=(1, 1e6), slack=(0, 1e5), deals=(1, 100))

    @property
    def width(self) -> int:
        return self.clients

    def iterate(self, it: IterationContext) -> Script:
        clients = min(self.clients, max(2, it.around.slots))
        for _ in range(self.deals):
            it.count("prefix.deals")
            made = register(it, self.prompt, asked=clients, share=SHARE)
            questions = asks(it, "cold", made)
            cold = yield Together(*questions)
            if min(answer.cached_tokens or 0 for answer in cold) <= self.slack:
                break
        yield from check_burst(it, "prefix.cold", questions, cold, made)
        questions = asks(it, "warm", made)
        warm = yield Together(*questions)
        yield from check_burst(it, "prefix.warm", questions, warm, made)


def asks(it: IterationContext, phase: str, made: Register) -> list[Ask]:
    """A question a client, each about a record of its own."""
    return [
        Ask(made.question(it, record), role=f"{phase}-{n}", tokens=64)
        for n, record in enumerate(made.asked, 1)
    ]


def check_burst(
    it: IterationContext, name: str, questions: Sequence[Ask], answers: Sequence[Exchange], made: Register
) -> Generator[Yield, Exchange, None]:
    """Every answer is its own record's code; one that is another client's is told as that."""
    others = {made.codes[record] for record in made.asked}
    for question, answer, record in zip(questions, answers, made.asked, strict=True):
        swapped = {"other_record": "swapped"} if answer.text.strip() in others else {}
        yield from check_code(it, name, question, answer, made, record, regrade=swapped)
