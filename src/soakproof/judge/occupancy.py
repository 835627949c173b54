"""How long each request of a run may have kept its server at work, its client's leaving included. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.claims import timing
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import phase_at_end
from soakproof.records import Exchange, Opened

NOTICE_S = 2.0  # in which a server notices that its client left


@dataclass(frozen=True, slots=True)
class Span:
    """From a request's sending to the last moment at which the server may have worked for it."""

    request: Exchange | Opened
    start_ns: int
    end_ns: int

    def blocks_ns(self, from_ns: int, until_ns: int) -> int:
        """How long its prompt work can have kept another one from beginning, within a time.

        As long as it had no token itself, and no longer than the server says that its prompt took.
        """
        first = getattr(self.request, "first_token_ns", None)
        shared = min(until_ns, first or self.end_ns) - max(from_ns, self.start_ns)
        told = timing(self.request, "prompt_ms") if isinstance(self.request, Exchange) else None
        return max(0, shared if told is None else min(shared, round(told * NS / 1000)))


def spans(evidence: Evidence) -> list[Span]:
    """Of every request, in order of sending. Of what never ended, as far as anything was recorded."""
    exchanges = evidence.exchanges
    prompt = max((timing(e, "prompt_ms") or 0 for e in exchanges), default=0) / 1000
    answer = max(((e.done_ns - e.sent_ns) / NS for e in exchanges), default=0)
    found = [Span(e, e.sent_ns, e.done_ns + round(_outlives(e, prompt, answer) * NS)) for e in exchanges]
    last = max((s.end_ns for s in found), default=0)
    found += [Span(o, o.sent_ns, max(last, o.sent_ns)) for o in evidence.unclosed]
    return sorted(found, key=lambda s: s.start_ns)


def _outlives(exchange: Exchange, longest_prompt: float, longest_answer: float) -> float:
    """Seconds for which a server may work on after its client left: at most a batch, or an unseen answer."""
    if exchange.outcome == "ok" and exchange.cancelled_ns is None:
        return 0.0
    more = {"decode": 0.0, "unstreamed": longest_answer}
    return NOTICE_S + more.get(phase_at_end(exchange), 2 * longest_prompt)


def longest_free_ns(beside: Iterable[Span], slots: int, from_ns: int, until_ns: int) -> int:
    """The longest stretch of a time throughout which fewer of these than there are slots were at work."""
    changes = sorted(change for s in beside for change in ((s.start_ns, 1), (s.end_ns, -1)))
    at_work, since, longest = 0, from_ns, 0
    for at, change in changes:
        if at_work < slots:
            longest = max(longest, min(at, until_ns) - since)
        at_work += change
        if at_work < slots <= at_work - change:
            since = max(at, from_ns)
    return max(longest, until_ns - since) if at_work < slots else longest
