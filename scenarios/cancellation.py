"""Cancellation: a client leaves; its slot must come free, its neighbour stay whole, the next answer be right.

When it leaves is an option, and each phase is a kind of its own in a plan: what a server can notice, and
how soon, differs (llama.cpp looks for a client that has gone only when it sends, or after a second in
which no request had a result). So in the phases without sending, the slot is watched after the bystanders
have ended.
"""

from dataclasses import dataclass
from typing import Literal

from soakproof.scenario import (
    After,
    Ask,
    Exchange,
    Finish,
    IterationContext,
    Release,
    Released,
    Scenario,
    Script,
    Seconds,
    Start,
    Tokens,
    prose,
    prose_above,
)

Phase = Literal["decode", "first_token", "near_end", "prefill", "queued", "unstreamed"]
SILENT = ("prefill", "queued", "unstreamed")  # nothing is sent to the client when it leaves
FRAGMENT = 20  # characters of the cancelled text that nothing else says by chance


@dataclass(frozen=True)
class Cancellation(Scenario):
    """Cut a long answer while a bystander streams, then ask something short."""

    checks = ("cancel.released", "cancel.bystander", "cancel.after", "cancel.ghost")
    width = 2
    phase: Phase = "decode"
    within: Seconds = Seconds(5)  # from the cut, or in a silent phase from the bystanders' end
    tokens: Tokens = Tokens(4000)  # of the answer that is cut
    after_tokens: int = 20  # token events until the cut, while decoding
    after: Seconds = Seconds(0.5)  # until the cut in a silent phase
    prompt: Tokens = Tokens(6000)  # of the cut request in prefill
    bystander: Tokens = Tokens(400)  # of the answer beside it

    def iterate(self, it: IterationContext) -> Script:
        line = it.secret(3)
        beside = it.tokens(self.bystander)
        others = []
        for n in range(self._bystanders(it)):
            role = f"bystander-{n + 1}"
            others.append((yield Start(Ask(prose(it), role=role, tokens=beside, force=True, may_fail=True))))
        cut = yield self._cut(it)
        whole = []
        if self.phase in SILENT:
            for other in others:
                whole.append((yield Finish(other)))
        freed = yield Released(cut, within=self._bound(cut, whole))
        after = yield Ask(it.phrase("echo", x=line), role="after")
        if self.phase not in SILENT:
            for other in others:
                whole.append((yield Finish(other)))
        self._check_released(it, cut, freed)
        check_bystanders(it, whole, beside)
        it.check("cancel.after", after.text.strip() == line, after, reason=_unless(line, after))
        check_ghost(it, cut, after, whole)

    def _bystanders(self, it: IterationContext) -> int:
        """One, or as many as fill every slot when the cut request is to queue."""
        if self.phase == "queued":
            return it.around.slots
        return min(1, it.around.slots - 1)

    def _cut(self, it: IterationContext) -> Ask:
        """The request that will be cut, and when."""
        tokens = it.tokens(self.tokens)
        text = prose_above(it, self.prompt) if self.phase == "prefill" else prose(it)
        if self.phase in SILENT:
            when = After(seconds=self.after, phase=self.phase)
        else:
            events = {"first_token": 1, "near_end": max(1, tokens - 4)}.get(self.phase, self.after_tokens)
            when = After(tokens=events, phase=self.phase)
        return Ask(
            text, role="cancelled", tokens=tokens, force=True, stream=self.phase != "unstreamed", cancel=when
        )

    def _bound(self, cut: Exchange, whole: list[Exchange]) -> float:
        """Seconds since the cut until the slot must be free."""
        quiet = max((other.done_ns for other in whole), default=cut.done_ns)
        return max(0.0, (quiet - cut.done_ns) / 1e9) + self.within

    def _check_released(self, it: IterationContext, cut: Exchange, freed: Release) -> None:
        name = "cancel.released"
        if cut.cancelled_ns is None:
            it.check(name, None, cut, reason=f"it ended by itself before the cut: {cut.finish_reason}")
        elif self.phase in {"prefill", "queued"} and cut.first_token_ns is not None:
            it.check(name, None, cut, reason=f"its answer had begun: the cut came too late for {self.phase}")
        elif freed.freed is None:
            it.check(name, None, cut, reason=freed.reason or "its slot could not be seen")
        elif freed.freed:
            it.check(name, True, cut)
        else:
            it.check(name, False, cut, grade=self._known_limit(it) or "held", reason=freed.reason)

    def _known_limit(self, it: IterationContext) -> str:
        """The grade of a limit that this front or server is known for; "" if there is none."""
        if self.phase == "unstreamed" and it.around.front == "lemonade":
            return "known:unstreamed_never_cancelled"
        if self.phase in SILENT and it.around.slots > self.width:
            return "known:unnoticed_while_others_emit"
        return ""


def check_bystanders(it: IterationContext, whole: list[Exchange], tokens: int) -> None:
    """Each neighbour came to its end: all its tokens, and the reason for the end that goes with them."""
    if not whole:
        it.check("cancel.bystander", None, reason="the target has one slot: nobody could stand by")
    for other in whole:
        if other.outcome == "unknown" or (other.outcome == "ok" and other.completion_tokens is None):
            it.check("cancel.bystander", None, other, reason=other.reason or "the server counts no tokens")
            continue
        right = (other.outcome, other.finish_reason, other.completion_tokens) == ("ok", "length", tokens)
        it.check("cancel.bystander", right, other, reason="" if right else _missed(other, tokens))


def check_ghost(it: IterationContext, cut: Exchange, after: Exchange, whole: list[Exchange]) -> None:
    """Nothing of the cancelled request in what was answered after it or beside it."""
    found = sorted(it.foreign(after, *whole))
    if piece := shared_piece(f"{cut.reasoning}\n{cut.text}", f"{after.reasoning}\n{after.text}"):
        found.append(repr(piece))
    it.check("cancel.ghost", not found, cut, after, reason=", ".join(found))


def shared_piece(cut: str, after: str) -> str:
    """A piece of ``FRAGMENT`` characters that both texts have, too varied to be chance; "" if none."""
    for start in range(len(after) - FRAGMENT + 1):
        piece = after[start : start + FRAGMENT]
        if piece in cut and len(set(piece)) >= 6:
            return piece
    return ""


def _missed(other: Exchange, tokens: int) -> str:
    if other.outcome == "fail":
        return f"its request failed: {other.reason}"
    return f"{other.completion_tokens} of {tokens} tokens, finish_reason {other.finish_reason!r}"


def _unless(line: str, answer: Exchange) -> str:
    text = answer.text.strip()
    return "" if text == line else f"expected {line!r}, found {text[:80]!r}"
