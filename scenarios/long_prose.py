"""Long prose: a long prompt and a forced long answer. Generation rates are measured on it.

Prose has no one right form, so what is checked is that it is prose at all: as long as it was forced to be,
not going round in circles, not made of a handful of words, without a stall, and as fast on its way to us as
the server made it. How fast a server ought to be is for the thresholds of a plan, and for the baseline.
"""

from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    AskFailed,
    Exchange,
    Failure,
    IterationContext,
    Ranges,
    Ratio,
    Scenario,
    Script,
    Seconds,
    Tokens,
    amount,
    prose_above,
)

WINDOW = 40  # characters: longer than any phrase that prose repeats
BLOCK = 200  # words: prose of that length has a hundred different ones
LATE = 3.0  # seconds that a stream may take longer than its making, on a busy host


@dataclass(frozen=True)
class LongProse(Scenario):
    """Prose at a temperature that keeps it from looping, forced to its full length."""

    checks = ("prose.length", "prose.stall", "prose.pace", "prose.repetition", "prose.foreign")
    registers = True
    prompt: Tokens = Tokens(6000)
    answer: Tokens = Tokens(768)
    temperature: float = 0.8
    gap: Seconds = Seconds(30)  # between two tokens: longer is a stall
    repeated: Ratio = Ratio(0.25)  # of the text that it has said before: more is degenerate
    different: Ratio = Ratio(0.15)  # of 200 words in a row: fewer different ones are degenerate
    slowed: float = 2.0  # times as long on its way as it took to make: more is a stream held back
    ranges = Ranges(
        prompt=(1, 1e6),
        answer=(1, 1e6),
        temperature=(0, 5),
        gap=(0.01, 86400),
        repeated=(0, 1),
        different=(0, 1),
        slowed=(1, 1000),
    )

    def iterate(self, it: IterationContext) -> Script:
        tokens = it.tokens(self.answer)
        text = prose_above(it, self.prompt)
        said = yield Ask(text, tokens=tokens, force=True, temperature=self.temperature, may_fail=True)
        self._check_stall(it, said)
        if said.outcome != "ok":
            raise AskFailed(said)
        check_length(it, said, tokens)
        self._check_pace(it, said)
        self._check_repetition(it, said)
        leaked = it.foreign(said)
        it.check("prose.foreign", not leaked, said, reason=", ".join(sorted(leaked)))
        it.count("prose.tokens", said.completion_tokens or 0)

    def _check_stall(self, it: IterationContext, said: Exchange) -> None:
        if said.failure == Failure.STALL:
            it.check("prose.stall", False, said, grade="ended", reason=said.reason)
        elif said.outcome != "ok" or said.widest_gap_ns is None:
            it.check("prose.stall", None, said, reason=said.reason or "fewer than two tokens came")
        else:
            gap = said.widest_gap_ns / 1e9
            it.check("prose.stall", gap <= self.gap, said, reason=f"widest gap {gap:.2f} s")

    def _check_pace(self, it: IterationContext, said: Exchange) -> None:
        """Whether the tokens came about as fast as the server says that it made them."""
        made, came = made_s(said), came_s(said)
        if made is None or came is None:
            it.check("prose.pace", None, said, reason="the server does not tell how long it took to make it")
            return
        held_back = came > self.slowed * made + LATE
        reason = f"made in {made:.1f} s, came in {came:.1f} s"
        it.check("prose.pace", not held_back, said, grade="slowed" if held_back else "", reason=reason)

    def _check_repetition(self, it: IterationContext, said: Exchange) -> None:
        share, fewest = repetition(said.text), variety(said.text)
        if share > self.repeated:
            it.check("prose.repetition", False, said, grade="loop", reason=f"{share:.0%} was said before")
        elif fewest < self.different:
            reason = f"of {BLOCK} words in a row only {fewest:.0%} are different ones"
            it.check("prose.repetition", False, said, grade="few_words", reason=reason)
        else:
            it.check("prose.repetition", True, said, reason=f"{share:.0%} was said before")


def check_length(it: IterationContext, said: Exchange, tokens: int) -> None:
    """All the tokens that were forced, and the reason for the end that goes with them."""
    if said.completion_tokens is None:
        it.check("prose.length", None, said, reason="the server counts no tokens")
        return
    size = len(f"{said.reasoning}{said.text}".encode("utf-8", "replace"))
    right = said.completion_tokens == tokens and said.finish_reason == "length"
    blank = right and size < tokens / 2  # whatever the language: a token has a byte or more
    found = f"{said.completion_tokens} of {tokens} tokens, finish_reason {said.finish_reason!r}, {size} bytes"
    reason = "" if right and not blank else found
    it.check("prose.length", not reason, said, grade="blank" if blank else "", reason=reason)


def made_s(said: Exchange) -> float | None:
    """Seconds that the server says it decoded for; None for what no clock can have said."""
    told = amount((said.timings or {}).get("predicted_ms"))
    return told / 1000 if told else None


def came_s(said: Exchange) -> float | None:
    """Seconds from the first token to the last as they came to us."""
    if said.first_token_ns is None or said.last_token_ns is None:
        return None
    return (said.last_token_ns - said.first_token_ns) / 1e9


def repetition(text: str) -> float:
    """The share of a text's windows of 40 characters that it had before: near 0 for prose, 1 for a loop.

    Characters and not words, so that it holds for languages that do not part them.
    """
    windows = len(text) - WINDOW + 1
    if windows < 1:
        return 0.0
    return 1 - len({text[start : start + WINDOW] for start in range(windows)}) / windows


def variety(text: str) -> float:
    """The smallest share of different words in any 200 in a row; 1 where there are not so many."""
    words = text.split()
    blocks = [words[start : start + BLOCK] for start in range(0, len(words) - BLOCK + 1, BLOCK)]
    return min((len(set(block)) / BLOCK for block in blocks), default=1.0)
