"""Whether the server took up what it was sent: no request lost, wedged, overtaken, or put off for nothing.

Averages and percentiles cannot show this: one request that never has its turn leaves them as they are.
A long prompt that is at work in a slot is none of it, and probes that do not answer prove nothing alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from soakproof.judge import (
    NS,
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
    upper,
)
from soakproof.judge.contention import contended
from soakproof.judge.slotwork import resolution
from soakproof.judge.trend import Rise, rise
from soakproof.judge.unexplained import Unexplained, Waited
from soakproof.judge.waiting import Request, Waits
from soakproof.records import Exchange

USUAL = 60  # percentile of the unexplained waits: where more are put off, that is how this server is
FAR, FAR_S = 10, 2.0  # times that, and at least so many seconds, are far beyond it
FAR_SHARE = 0.01  # of the requests: fewer may be the host's own hiccups


@dataclass(frozen=True)
class Scheduling(Adjudicator):
    """Did every request have its turn?

    ``idle`` is how long a request may go without a token while every slot is free. ``overtaken`` is how many
    later requests may begin to be answered while one is in no slot yet. ``required``: where the slots were
    not seen, there is no PASS. ``wait`` is how long a request may wait for its first token beyond what
    explains it (its own prompt, a neighbour's, a queue): ``waits`` such are a failure, fewer are doubtful, as
    are ``waits`` of more than half of it, or of 2 s and far more than the other requests waited. By
    ``growth`` such waits may grow in the course of a run; a quarter of it is doubtful.
    """

    required: bool = False
    idle: Seconds = Seconds(60)
    overtaken: int = 20
    wait: Seconds = Seconds(10)
    waits: int = 3
    growth: Seconds = Seconds(2)
    ranges = Ranges(
        idle=(0, 86400), overtaken=(0, 1_000_000), wait=(0, 86400), waits=(1, 1_000_000), growth=(0, 86400)
    )

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        waits = Waits(evidence)
        yield from self._wedged(waits)
        yield from self._unexplained(evidence)
        if not waits.slots.t_ns:
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

    def _unexplained(self, evidence: Evidence) -> Iterable[Finding]:
        """Waits of requests that had nothing to queue for; nothing of a server that tells no times."""
        found = Unexplained(evidence).waits
        if len(found):
            yield self._put_off(found)
            yield self._growing(evidence, found)

    def _put_off(self, found: Waited) -> Finding:
        late = found.beyond(self.wait)
        told, limit = (late, self.wait) if len(late) else self._doubtful(found)
        outcome = Outcome.INCONCLUSIVE if len(told) else Outcome.PASS
        if len(late) >= self.waits:
            outcome = Outcome.FAIL
        _, longest = found.longest
        return finding(
            self,
            "waits",
            outcome,
            _told_put_off(told, limit)
            if len(told)
            else f"No request with a free slot waited more than {self.wait:g} s that nothing explains.",
            figures=(
                Figure(name="put off", value=len(told), n=len(found)),
                Figure(name="longest unexplained", value=longest, unit="s", n=len(found)),
            ),
            limit=f"fewer than {self.waits} of more than {self.wait:g} s",
            limit_source="policy",
            exchanges=ids(told.exchanges["id"]),
            strength=f"{counted(len(found), 'request')} with nothing to queue for",
            fault="server" if outcome is Outcome.FAIL else "",
        )

    def _doubtful(self, found: Waited) -> tuple[Waited, float]:
        """Several waits of more than half the bound, or far beyond what this server's requests wait
        otherwise; and the seconds that they are beyond. Empty where there are none.
        """
        usual = upper(found.seconds.tolist(), USUAL)
        far = max(FAR_S, FAR * usual)
        for limit, least in ((self.wait / 2, self.waits), (far, max(self.waits, FAR_SHARE * len(found)))):
            beyond = found.beyond(limit)
            if len(beyond) >= least:
                return beyond, limit
        return found.beyond(inf), far

    def _growing(self, evidence: Evidence, found: Waited) -> Finding:
        """Whether such waits become longer and longer, however short they still are."""
        times, seconds = found.exchanges.seconds("sent_ns"), found.seconds
        grown = rise(times.tolist(), seconds.tolist(), self.growth / 4)
        others = contended(evidence) if grown.answer in ("grows", "rose") else ""
        outcome = _of_rise(grown, self.growth, others)
        return finding(
            self,
            "growing waits",
            outcome,
            _told_rise(grown, others),
            figures=tuple(
                Figure(name=f"unexplained wait, {part} third", value=value, unit="s", n=grown.n)
                for part, value in (("first", grown.early), ("last", grown.late))
            ),
            limit=f"no growth by more than {self.growth:g} s",
            limit_source="policy",
            exchanges=ids(found.exchanges["id"][-3:]) if outcome is not Outcome.PASS else (),
            strength="Mann-Whitney of the thirds, Theil-Sen in each half",
            critical=grown.answer != "short",
            fault="server" if outcome is Outcome.FAIL else "",
        )

    def _lost(self, waits: Waits) -> Finding:
        """Requests that waited while every slot was free: the scheduler has lost them."""
        lost = waits.in_vain(self.idle)
        return finding(
            self,
            "lost",
            Outcome.FAIL if lost else Outcome.PASS,
            self._told_lost(lost, waits)
            if lost
            else f"No request waited more than {self.idle:g} s while every slot was free.",
            figures=(Figure(name="lost", value=len(lost), n=len(waits)), _longest(lost, waits)),
            limit=f"{self.idle:g} s",
            limit_source="policy",
            exchanges=ids(lost),
            strength=resolution(waits.slots.samples),
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
        failed = waits.unanswered
        wedged = [e for e in failed.records if waits.wedged(e)]
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
        passed = waits.overtaken()
        starved = [(request, by) for request, by in passed if by > self.overtaken]
        most = max((by for _, by in passed), default=0) if len(waits) else None
        answer = f"No request was overtaken by more than {self.overtaken} later ones before its turn."
        if starved:
            worst, most_by = max(starved, key=lambda of: of[1])
            answer = (
                f"{counted(len(starved), 'request')} starved: {worst.id} waited {waits.seconds(worst):.1f} s "
                f"while {most_by} requests sent after it were answered before it."
            )
        return finding(
            self,
            "overtaken",
            Outcome.FAIL if starved else Outcome.PASS,
            answer,
            figures=(Figure(name="most overtaken", value=most, n=len(waits)),),
            limit=f"by at most {self.overtaken}",
            limit_source="policy",
            exchanges=ids(request for request, _ in starved),
            strength=resolution(waits.slots.samples),
            fault="backend" if starved else "",
        )


def _told_put_off(late: Waited, limit: float) -> str:
    worst, unexplained = late.longest
    whole = ((worst.first_token_ns or worst.done_ns) - worst.sent_ns) / NS
    return (
        f"{counted(len(late), 'request')} waited more than {limit:g} s for a first token although a slot was "
        f"free and nothing explains it. The longest, {worst.id} ({worst.scenario} {worst.role}), waited "
        f"{whole:.1f} s, {unexplained:.1f} s of them for nothing."
    )


def _of_rise(grown: Rise, growth: float, others: str) -> Outcome:
    if grown.answer == "grows":
        return Outcome.FAIL if grown.amount >= growth and not others else Outcome.INCONCLUSIVE
    stepped = grown.answer == "rose" and grown.amount >= growth
    return Outcome.INCONCLUSIVE if stepped or grown.answer == "short" else Outcome.PASS


def _told_rise(grown: Rise, others: str) -> str:
    if grown.answer == "short":
        return f"Too few requests ({grown.n}) to tell whether waits that nothing explains grow."
    thirds = f"from {grown.early:.2f} s to {grown.late:.2f} s, medians of the first and the last third"
    if grown.answer == "level":
        return f"Waits that nothing explains do not grow: {thirds}."
    how = "grow to the end" if grown.answer == "grows" else "rose at some time and then stayed"
    return (
        f"Waits for a first token that nothing explains {how}: {thirds}{f'; but {others}' if others else ''}."
    )


def _longest(lost: Sequence[Request], waits: Waits) -> Figure:
    seconds = max((waits.seconds(r) for r in lost), default=None)
    return Figure(name="longest wait", value=seconds, unit="s", n=len(lost))


def _had(exchange: Exchange) -> str:
    """How far a request had come, in words."""
    return f"{exchange.token_events} token events, then {exchange.failure}"
