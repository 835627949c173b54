"""Long prompts with exact needles: at the lengths where a server cuts prompts, and near the full context.

llama.cpp takes a prompt in batches of n_batch tokens and computes those in micro-batches of n_ubatch. Kernels
have been wrong beyond the first micro-batch, have lost the oldest part alone, and have hung a few tokens past
a batch. So a register is asked about just below and just above each of these lengths, and once near the full
context, each time for a record at its start, middle and end: the check says which depth is lost, its grade
from which length on.

How many tokens a text has is estimated at first and learned from each answer's usage. What the lines hold
makes lengths differ by single tokens, so that a soak comes by each length around an edge. A register that the
server holds already is dealt anew: nothing of a restored prompt is computed.
"""

from collections.abc import Generator
from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    AskFailed,
    Exchange,
    IterationContext,
    Ranges,
    Ratio,
    Register,
    Scenario,
    Script,
    Tokens,
    Yield,
    at_depths,
    excuse_slip,
    missed_code,
    register,
)

DEPTHS = {"start": 0.0, "middle": 0.5, "end": 1.0}
BATCH, UBATCH = 2048, 512  # llama.cpp's own, where the target tells none
AROUND_IT = 60  # tokens of a prompt beside its records: head, question, template
MEASURED = 0.94  # of the share: a longer register has longer numbers, and so fewer characters a token
UNMEASURED = 0.7  # of the share, where no answer told its tokens


@dataclass(frozen=True)
class NearContext(Scenario):
    """Registers that straddle n_ubatch and n_batch, then a long one, each asked at three depths."""

    checks = ("context.start", "context.middle", "context.end")
    registers = True
    prompt: Tokens = Tokens(32_000)  # of the longest register, as far as the share lets it
    share: Ratio = Ratio(0.9)  # of a slot's context that it may fill at most; the answer needs room as well
    straddle: Tokens = Tokens(40)  # to each side of a batch's length, at most
    slack: Tokens = Tokens(64)  # restored of a prompt that is cold all the same: a template's beginning
    deals: int = 8  # of a register until one is cold
    ranges = Ranges(prompt=(1, 1e6), share=(0.1, 0.95), straddle=(1, 1e4), slack=(0, 1e5), deals=(1, 100))

    def iterate(self, it: IterationContext) -> Script:
        scale: float | None = None  # tokens as the server counts them, for each that was estimated
        for tokens in [*self._edges(it), 0]:
            for _ in range(self.deals):
                it.count("context.deals")
                made = self._register(it, tokens or self._longest(it, scale), scale or 1.0)
                first = yield from ask_depths(it, made, "edge" if tokens else "full", scale or 1.0)
                scale = measured(it, first) or scale
                if (first.cached_tokens or 0) <= self.slack:
                    break

    def _edges(self, it: IterationContext) -> list[int]:
        """Lengths just below and just above each batch, as far as the share has room for them."""
        edges = sorted({it.around.ubatch or UBATCH, it.around.batch or BATCH})
        sizes = [edge + side * it.draw.randint(1, self.straddle) for edge in edges for side in (-1, 1)]
        return [size for size in sizes if 0 < size < it.around.slot_context * self.share]

    def _longest(self, it: IterationContext, scale: float | None) -> int:
        sure = UNMEASURED if scale is None else MEASURED
        return it.tokens(self.prompt, share=self.share * sure)

    def _register(self, it: IterationContext, tokens: int, scale: float) -> Register:
        """A register whose whole prompt has about so many of the server's own tokens."""
        return register(it, max(1, int((tokens - AROUND_IT) / scale)), asked=0, share=1 / scale)


def ask_depths(
    it: IterationContext, made: Register, what: str, scale: float
) -> Generator[Yield, Exchange, Exchange]:
    """Ask for a record at each depth, its start first, which alone may be cold; that exchange."""
    answers = []
    for depth, record in zip(DEPTHS, at_depths(it, made, list(DEPTHS.values())), strict=True):
        ask = Ask(made.question(it, record), role=f"{what}-{depth}", tokens=64, may_fail=True)
        said = yield ask
        if said.outcome != "ok":
            about = round(estimated(it, said) * scale)
            reason = f"no answer to a prompt of about {about} tokens: {said.failure}: {said.reason}"
            it.check(f"context.{depth}", None, said, reason=reason)
            raise AskFailed(said)
        yield from check_depth(it, ask, said, made, depth, record)
        answers.append(said)
    return answers[0]


def measured(it: IterationContext, said: Exchange) -> float | None:
    """Tokens of a prompt for each that was estimated; None where the server counts none."""
    if not said.prompt_tokens:
        return None
    return said.prompt_tokens / estimated(it, said)


def estimated(it: IterationContext, said: Exchange) -> float:
    """Tokens of a prompt as they are estimated from its characters."""
    return max(1.0, said.prompt_chars / it.around.chars_per_token)


def check_depth(
    it: IterationContext, ask: Ask, said: Exchange, made: Register, depth: str, record: str
) -> Generator[Yield, Exchange, None]:
    """The record's code and nothing else; a wrong answer is graded by the length of its prompt."""
    grade, reason = missed_code(it, said, made, record)
    if grade:
        reason = f"{grade}: {reason}; {told_length(it, said)}, record {record} of {len(made.codes)}"
    graded = grade if grade in ("", "foreign") else length(it, said)
    it.check(f"context.{depth}", not grade, said, grade=graded, reason=reason)
    if grade == "wrong":
        yield from excuse_slip(it, ask, said, made.codes[record])


def length(it: IterationContext, said: Exchange) -> str:
    """From which length on a prompt is wrong: the batch that it is longer than."""
    if said.prompt_tokens is None:
        return "unknown_length"
    if said.prompt_tokens > (it.around.batch or BATCH):
        return "beyond_batch"
    return "beyond_ubatch" if said.prompt_tokens > (it.around.ubatch or UBATCH) else "within_ubatch"


def told_length(it: IterationContext, said: Exchange) -> str:
    batches = f"n_ubatch {it.around.ubatch or UBATCH}, n_batch {it.around.batch or BATCH}"
    source = "" if it.around.batch else ", taken from llama.cpp's defaults"
    return f"{said.prompt_tokens} prompt tokens ({batches}{source})"
