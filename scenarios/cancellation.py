"""Cancellation: a client leaves; its slot must come free, its neighbour stay whole, the next answer be right.

When it leaves is an option, and each phase is a kind of its own in a plan: what a server can notice, and
how soon, differs (llama.cpp looks for a client that has gone only when it sends, or after a second in
which no request had a result). So in the phases without sending, the slot is watched after the bystanders
have ended.

Free within the bound is not enough: a quick server that never cancels may be done by then. So a slot that was
seen to decode much of the answer after its client had left was not cancelled, and the unstreamed answer, the
one that a server may not cancel at all, is sized by a request before it so that it outlasts the bound.

Two limits are known. Lemonade does not cancel what does not stream. And where a server has more slots than
this scenario uses, other users' streams may keep it from noticing a client that is not sent anything: a hold
that ends within ``PATIENCE`` times the bound is put down to that; a longer one is a leak.
"""

import math
from dataclasses import dataclass
from typing import Literal

from soakproof.scenario import (
    After,
    Ask,
    Exchange,
    Finish,
    IterationContext,
    Ranges,
    Release,
    Released,
    Scenario,
    Script,
    Seconds,
    Start,
    Tokens,
    check_line,
    prose,
    prose_above,
)

Phase = Literal["decode", "first_token", "near_end", "prefill", "queued", "unstreamed"]
SILENT = ("prefill", "queued", "unstreamed")  # nothing is sent to the client when it leaves
BATCH = 512  # tokens that a server may decode between two looks at its clients
PATIENCE = 3  # times the bound
NOTICE = 2.5  # seconds: some fronts look for clients that have left every second or two
OUTLAST = 2  # times the bound that an unstreamed answer takes
FRAGMENT = 20  # characters of the cancelled text that nothing else says by chance


@dataclass(frozen=True)
class Cancellation(Scenario):
    """Cut a long answer while a bystander streams, then ask something short."""

    checks = ("cancel.released", "cancel.bystander", "cancel.after", "cancel.ghost")
    registers = True
    width = 2
    phase: Phase = "decode"
    within: Seconds = Seconds(5)  # from the cut, or in a silent phase from the bystanders' end
    tokens: Tokens = Tokens(5000)  # of the answer that is cut; unstreamed, where the server's pace is unknown
    after_tokens: int = 20  # token events until the cut, while decoding
    after: Seconds = Seconds(0.5)  # until the cut in a silent phase
    prompt: Tokens = Tokens(6000)  # of the cut request in prefill
    bystander: Tokens = Tokens(400)  # of the answer beside it
    ranges = Ranges(
        within=(0.05, 3600),
        tokens=(1, 1e6),
        after_tokens=(1, 1e6),
        after=(0, 3600),
        prompt=(1, 1e6),
        bystander=(1, 1e6),
    )

    def iterate(self, it: IterationContext) -> Script:
        line = it.secret(12)
        tokens, lasts = it.tokens(self.tokens, share=0.3), math.inf
        if self.phase == "unstreamed":
            pace = yield Ask(prose(it), role="pace", tokens=it.tokens(64), force=True)
            tokens, lasts = self._outlasting(it, tokens_a_second(pace), tokens)
        beside = it.tokens(self.bystander)
        others = []
        for n in range(self._bystanders(it)):
            role = f"bystander-{n + 1}"
            others.append((yield Start(Ask(prose(it), role=role, tokens=beside, force=True, may_fail=True))))
        cut = yield self._cut(it, tokens, self._events(tokens))
        if self.phase == "near_end" and cut.cancelled_ns is None:  # it was quicker than the cut
            cut = yield self._cut(it, tokens, max(1, tokens // 2))
        whole = []
        if self.phase in SILENT:
            for other in others:
                whole.append((yield Finish(other)))
        freed = seen = yield Released(cut, within=self._bound(cut, whole))
        if freed.freed is False and self._others_may_emit(it):
            seen = yield Released(cut, within=self._bound(cut, whole, PATIENCE))
        ask = Ask(it.phrase("echo", x=line), role="after")
        after = yield ask
        if self.phase not in SILENT:
            for other in others:
                whole.append((yield Finish(other)))
        self._check_released(it, cut, freed, tokens, self._grade(it, seen, tokens), lasts)
        check_bystanders(it, whole, beside)
        yield from check_line(it, "cancel.after", ask, after, line)
        check_ghost(it, cut, after, whole)

    def _bystanders(self, it: IterationContext) -> int:
        """One, or as many as fill every slot when the cut request is to queue."""
        if self.phase == "queued":
            return it.around.slots
        return min(1, it.around.slots - 1)

    def _outlasting(self, it: IterationContext, rate: float | None, tokens: int) -> tuple[int, float]:
        """Tokens that outlast the bound, as far as the slot has room for them, and seconds they take."""
        if rate is None:
            return tokens, math.inf
        tokens = it.tokens(max(BATCH, math.ceil(rate * OUTLAST * self.within)), share=0.75)
        return tokens, tokens / rate

    def _events(self, tokens: int) -> int:
        """Token events until the cut, while decoding."""
        near_end = max(1, min(tokens * 4 // 5, tokens - 16))  # a quick server is done before a later cut
        return {"first_token": 1, "near_end": near_end}.get(self.phase, self.after_tokens)

    def _cut(self, it: IterationContext, tokens: int, events: int) -> Ask:
        """The request that will be cut, and when."""
        text = prose_above(it, self.prompt) if self.phase == "prefill" else prose(it)
        silent = self.phase in SILENT
        when = (
            After(seconds=self.after, phase=self.phase) if silent else After(tokens=events, phase=self.phase)
        )
        return Ask(
            text, role="cancelled", tokens=tokens, force=True, stream=self.phase != "unstreamed", cancel=when
        )

    def _bound(self, cut: Exchange, whole: list[Exchange], times: int = 1) -> float:
        """Seconds since the cut until the slot must be free."""
        quiet = max((other.done_ns for other in whole), default=cut.done_ns)
        return max(0.0, (quiet - cut.done_ns) / 1e9) + self.within * times

    def _check_released(
        self, it: IterationContext, cut: Exchange, freed: Release, tokens: int, grade: str, lasts: float
    ) -> None:
        """Whether the cut freed the slot, in time."""
        name = "cancel.released"
        if cut.cancelled_ns is None:
            it.check(name, None, cut, reason=f"it ended by itself before the cut: {cut.finish_reason}")
        elif self.phase in {"prefill", "queued"} and cut.first_token_ns is not None:
            it.check(name, None, cut, reason=f"its answer had begun: the cut came too late for {self.phase}")
        elif freed.freed is None:
            it.check(name, None, cut, reason=freed.reason or "its slot could not be seen")
        elif not freed.freed:
            it.check(name, False, cut, grade=grade, reason=freed.reason)
        elif ran_on(freed, tokens):
            reason = f"not cancelled: it decoded {freed.decoded} tokens or more after the client had left"
            it.check(name, False, cut, grade=grade, reason=reason)
        elif (freed.seconds or 0) >= lasts:
            it.check(name, None, cut, reason=f"it may have ended by itself: it takes {lasts:.1f} s in all")
        else:
            it.check(name, True, cut)

    def _others_may_emit(self, it: IterationContext) -> bool:
        """Whether other users' streams may keep the server from noticing that this client has left."""
        return self.phase in SILENT and it.around.slots > self.width

    def _grade(self, it: IterationContext, seen: Release, tokens: int) -> str:
        """Of a hold: a limit that this front or server is known for, or a leak."""
        if self.phase == "unstreamed" and it.around.front == "lemonade":
            return "known:unstreamed_never_cancelled"
        # a stream is cancelled at its first token; what does not stream decodes on until it is noticed
        most = tokens // 2 if self.phase == "unstreamed" else tokens // 4
        if seen.freed and self._others_may_emit(it) and not went_on(seen, most):
            return "known:unnoticed_while_others_emit"
        return "held"


def tokens_a_second(answer: Exchange) -> float | None:
    """At which an answer was decoded; None where the server counts no tokens, or no clock saw it."""
    if not answer.completion_tokens or answer.first_token_ns is None:
        return None
    return answer.completion_tokens / max((answer.done_ns - answer.first_token_ns) / 1e9, 0.001)


def went_on(release: Release, tokens: int) -> bool:
    """Whether a slot was seen to decode more than so many tokens, and a batch, after its client had left."""
    return release.decoded is not None and release.decoded > max(BATCH, tokens)


def ran_on(release: Release, tokens: int) -> bool:
    """Whether a slot that came free in time had not been cancelled: it was seen to decode most of the tokens,
    or a quarter and for longer than a front takes to notice that its client has left.
    """
    unnoticed = went_on(release, tokens // 4) and (release.seconds or 0) > NOTICE
    return unnoticed or went_on(release, tokens * 3 // 4)


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
