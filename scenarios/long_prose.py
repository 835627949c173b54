"""Long prose: a long prompt and a forced long answer. Generation rates are measured on it."""

from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    AskFailed,
    Exchange,
    Failure,
    IterationContext,
    Ratio,
    Scenario,
    Script,
    Seconds,
    Tokens,
    prose_above,
)

WINDOW = 40  # characters: longer than any phrase that prose repeats


@dataclass(frozen=True)
class LongProse(Scenario):
    """Prose at a temperature that keeps it from looping, forced to its full length."""

    checks = ("prose.length", "prose.stall", "prose.repetition", "prose.foreign")
    prompt: Tokens = Tokens(6000)
    answer: Tokens = Tokens(768)
    temperature: float = 0.8
    gap: Seconds = Seconds(30)  # between two tokens: longer is a stall
    repeated: Ratio = Ratio(0.25)  # of the text that it has said before: more is degenerate

    def iterate(self, it: IterationContext) -> Script:
        tokens = it.tokens(self.answer)
        text = prose_above(it, self.prompt)
        said = yield Ask(text, tokens=tokens, force=True, temperature=self.temperature, may_fail=True)
        self._check_stall(it, said)
        if said.outcome != "ok":
            raise AskFailed(said)
        check_length(it, said, tokens)
        share = repetition(said.text)
        it.check("prose.repetition", share <= self.repeated, said, reason=f"{share:.0%} was said before")
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


def check_length(it: IterationContext, said: Exchange, tokens: int) -> None:
    """All the tokens that were forced, and the reason for the end that goes with them."""
    if said.completion_tokens is None:
        it.check("prose.length", None, said, reason="the server counts no tokens")
        return
    right = said.completion_tokens == tokens and said.finish_reason == "length"
    found = f"{said.completion_tokens} of {tokens} tokens, finish_reason {said.finish_reason!r}"
    it.check("prose.length", right, said, reason="" if right else found)


def repetition(text: str) -> float:
    """The share of a text's windows of 40 characters that it had before: near 0 for prose, 1 for a loop.

    Characters and not words, so that it holds for languages that do not part them.
    """
    windows = len(text) - WINDOW + 1
    if windows < 1:
        return 0.0
    return 1 - len({text[start : start + WINDOW] for start in range(windows)}) / windows
