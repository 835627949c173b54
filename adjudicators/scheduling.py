"""Whether the server took up what it was sent: no request lost, wedged, overtaken, or put off for nothing.

Averages and percentiles cannot show this: one request that never has its turn leaves them as they are.
A long prompt that is at work in a slot is none of it, and probes that do not answer prove nothing alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
from soakproof.judge.unexplained import Unexplained, Wait
from soakproof.judge.waiting import UNANSWERED, Request, Waits
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
        if found:
            yield self._put_off(found)
            yield self._growing(evidence, found)

    def _put_off(self, found: Sequence[Wait]) -> Finding:
        late = [w for w in found if w.seconds > self.wait]
        told, limit = (late, self.wait) if late else self._doubtful(found)
        outcome = Outcome.INCONCLUSIVE if told else Outcome.PASS
        if len(late) >= self.waits:
            outcome = Outcome.FAIL
        longest = max(found, key=lambda w: w.seconds)
        return finding(
            self,
            "waits",
            outcome,
            _told_put_off(told, longest, limit)
            if told
            else f"No request with a free slot waited more than {self.wait:g} s that nothing explains.",
            figures=(
                Figure(name="put off", value=len(told), n=len(found)),
                Figure(name="longest unexplained", value=longest.seconds, unit="s", n=len(found)),
            ),
            limit=f"fewer than {self.waits} of more than {self.wait:g} s",
            limit_source="policy",
            exchanges=ids(w.exchange for w in told),
            strength=f"{counted(len(found), 'request')} with nothing to queue for",
            fault="server" if outcome is Outcome.FAIL else "",
        )

    def _doubtful(self, found: Sequence[Wait]) -> tuple[Sequence[Wait], float]:
        """Several waits of more than half the bound, or far beyond what this server's requests wait
        otherwise; and the seconds that they are beyond. Empty where there are none.
        """
        usual = upper([w.seconds for w in found], USUAL)
        far = max(FAR_S, FAR * usual)
        for limit, least in ((self.wait / 2, self.waits), (far, max(self.waits, FAR_SHARE * len(found)))):
            beyond = [w for w in found if w.seconds > limit]
            if len(beyond) >= least:
                return beyond, limit
        return [], far

    def _growing(self, evidence: Evidence, found: Sequence[Wait]) -> Finding:
        """Whether such waits become longer and longer, however short they still are."""
        times, seconds = [w.exchange.sent_ns / NS for w in found], [w.seconds for w in found]
        grown = rise(times, seconds, self.growth / 4)
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
            exchanges=ids(w.exchange for w in found[-3:]) if outcome is not Outcome.PASS else (),
            strength="Mann-Whitney of the thirds, Theil-Sen in each half",
            critical=grown.answer != "short",
            fault="server" if outcome is Outcome.FAIL else "",
        )

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
            strength=resolution(waits.slots.samples),
            fault="backend" if starved else "",
        )


def _told_put_off(late: Sequence[Wait], longest: Wait, limit: float) -> str:
    worst = longest.exchange
    whole = ((worst.first_token_ns or worst.done_ns) - worst.sent_ns) / NS
    return (
        f"{counted(len(late), 'request')} waited more than {limit:g} s for a first token although a slot was "
        f"free and nothing explains it. The longest, {worst.id} ({worst.scenario} {worst.role}), waited "
        f"{whole:.1f} s, {longest.seconds:.1f} s of them for nothing."
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
