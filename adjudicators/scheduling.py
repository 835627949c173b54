"""Whether the server took up what it was sent: no request lost, wedged, or overtaken again and again.

Averages and percentiles cannot show this: one request that never has its turn leaves them as they are.
A long prompt that is at work in a slot is none of it, and probes that do not answer prove nothing alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soakproof.judge import (
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Seconds,
    counted,
    finding,
    ids,
)
from soakproof.judge.slotwork import resolution
from soakproof.judge.waiting import UNANSWERED, Request, Waits
from soakproof.records import Exchange


@dataclass(frozen=True)
class Scheduling(Adjudicator):
    """Did every request have its turn?

    ``idle`` is how long a request may go without a token while every slot is free. ``overtaken`` is how many
    later requests may begin to be answered while one is in no slot yet. ``required``: where the slots were
    not seen, there is no PASS.
    """

    required: bool = False
    idle: Seconds = Seconds(60)
    overtaken: int = 20
    ranges = Ranges(idle=(0, 86400), overtaken=(0, 1_000_000))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        waits = Waits(evidence)
        yield from self._wedged(waits)
        if not waits.slots:
            answer = "No slot was seen during the run: what a request waited for is unknown."
            yield finding(
                self,
                "lost",
                Outcome.INCONCLUSIVE,
                answer,
                limit=f"{self.idle:g} s",
                limit_source="policy",
                critical=self.required,
            )
            return
        yield self._lost(waits)
        yield self._starved(waits)

    def _lost(self, waits: Waits) -> Finding:
        """Requests that waited while every slot was free: the scheduler has lost them."""
        lost = [r for r in waits.requests if waits.in_vain(r, self.idle)]
        return finding(
            self,
            "lost",
            Outcome.FAIL if lost else Outcome.PASS,
            self._told_lost(lost, waits)
            if lost
            else f"No request waited more than {self.idle:g} s while every slot was free.",
            figures=(Figure(name="lost", value=len(lost), n=len(waits.requests)), _longest(lost, waits)),
            limit=f"{self.idle:g} s",
            limit_source="policy",
            exchanges=ids(lost),
            strength=resolution(waits.slots),
            fault="backend" if lost else "",
        )

    def _told_lost(self, lost: Sequence[Request], waits: Waits) -> str:
        first = max(lost, key=waits.seconds)
        headers = ", nor any response headers" if getattr(first, "headers_ns", None) is None else ""
        return (
            f"{counted(len(lost), 'request')} waited more than {self.idle:g} s without a token while every "
            f"slot was free: never scheduled, which is worse than slow. The longest, {first.id}, waited "
            f"{waits.seconds(first):.1f} s and had no token{headers}; meanwhile "
            f"{waits.health(first.sent_ns, waits.until(first))}."
        )

    def _wedged(self, waits: Waits) -> Iterable[Finding]:
        """A server that answers for its health and no longer does any work."""
        failed = [e for e in waits.evidence.exchanges if e.failure in UNANSWERED]
        wedged = [e for e in failed if waits.wedged(e)]
        if not wedged:
            return
        first = wedged[0]
        yield finding(
            self,
            "wedged",
            Outcome.FAIL,
            f"The slots did not answer at all while {counted(len(wedged), 'request')} made nothing, although "
            f"the health answered well each time: the server's own loop hangs. First: {first.id} "
            f"({_had(first)}).",
            figures=(Figure(name="requests", value=len(wedged), n=len(failed)),),
            limit="the slots answer as the health does",
            exchanges=ids(wedged),
            fault="backend",
        )

    def _starved(self, waits: Waits) -> Finding:
        """Requests that others overtook again and again while they were in no slot."""
        passed = {r.id: waits.overtaken(r) for r in waits.requests}
        starved = [r for r in waits.requests if len(passed[r.id]) > self.overtaken]
        most = max((len(by) for by in passed.values()), default=None)
        answer = f"No request was overtaken by more than {self.overtaken} later ones before its turn."
        if starved:
            worst = max(starved, key=lambda r: len(passed[r.id]))
            answer = (
                f"{counted(len(starved), 'request')} starved: {worst.id} waited {waits.seconds(worst):.1f} s "
                f"while {len(passed[worst.id])} requests sent after it were answered before it."
            )
        return finding(
            self,
            "overtaken",
            Outcome.FAIL if starved else Outcome.PASS,
            answer,
            figures=(Figure(name="most overtaken", value=most, n=len(waits.requests)),),
            limit=f"by at most {self.overtaken}",
            limit_source="policy",
            exchanges=ids(starved),
            strength=resolution(waits.slots),
            fault="backend" if starved else "",
        )


def _longest(lost: Sequence[Request], waits: Waits) -> Figure:
    seconds = max((waits.seconds(r) for r in lost), default=None)
    return Figure(name="longest wait", value=seconds, unit="s", n=len(lost))


def _had(exchange: Exchange) -> str:
    """How far a request had come, in words."""
    return f"{exchange.token_events} token events, then {exchange.failure}"
