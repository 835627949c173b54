"""Delivery: what stands before the model changes no request, sends none twice, and gives no old answer.

The slots show what a request asks for where it is worked on; the ids and times of answers, and long texts
that were drawn at a temperature, show whether one was made for its request, or had been given to another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge import Adjudicator, Evidence, Figure, Finding, Outcome, counted, finding, ids, listed
from soakproof.judge.arrivals import Arrivals, Lost, arrivals
from soakproof.judge.origins import Stored, drawn_alike, stored
from soakproof.judge.slotwork import resolution, sightings
from soakproof.judge.staleness import stale_slots
from soakproof.judge.telling import request_name

SHOWN = 3
TAKERS = ("front", "backend")
SIGNS = {
    "id": "by the same id",
    "times": "by the same times, in less time than they claim",
    "words": "by the same words, which were drawn at a temperature",
}


@dataclass(frozen=True)
class Delivery(Adjudicator):
    """Did every request reach the model once and as it was sent, and was every answer made for it?

    ``replays``: a cache of answers is known to stand in front, so that answers to equal prompts which come
    again are told and decide nothing. Those to other prompts fail in any case.
    """

    replays: bool = False

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._answers(evidence)
        yield from self._prompts(evidence)
        samples = sightings(evidence)
        if not samples or stale_slots(evidence, samples):
            yield self._unseen()
            return
        found = arrivals(evidence, samples)
        if found.changed or found.lost:
            yield self._parameters(found)
        if found.twice:
            yield self._twice(found)
        if not (found.changed or found.lost or found.twice):
            yield self._as_sent(found, resolution(samples))

    def _answers(self, evidence: Evidence) -> Finding:
        """Whether answers came that another request had been given before."""
        table = evidence.exchange_table
        replayed = stored(table)
        others = [s for s in replayed if not s.same_prompt] + drawn_alike(table)
        answered = int(table.fact("has_text").sum())
        if others:
            outcome, answer = Outcome.FAIL, _replayed(others, "another prompt's answer")
        elif replayed:
            outcome = Outcome.INCONCLUSIVE
            answer = (
                f"{_replayed(replayed, 'an earlier answer to the same prompt')} A cache of answers stands in "
                "front: those say nothing of the model, nor of its own caches and times."
            )
        elif answered:
            outcome, answer = Outcome.PASS, f"No answer was given twice, of {answered}."
        else:
            outcome, answer = Outcome.INCONCLUSIVE, "No answer came."
        return finding(
            self,
            "stored",
            outcome,
            answer,
            figures=(
                Figure(name="to the same prompt", value=sum(s.same_prompt for s in replayed), n=answered),
                Figure(name="to another prompt", value=len(others), n=answered),
            ),
            limit="every answer made for its own request",
            exchanges=ids(e for s in others or replayed for e in (s.reader, s.source)),
            strength=_sign(others or replayed),
            critical=bool(others) or not self.replays,
            fault="front" if others else "",
        )

    def _prompts(self, evidence: Evidence) -> Iterable[Finding]:
        """Whether a prompt has as many tokens by the front as by its backend; asked before the load."""
        counts = evidence.target.get("prompt_counts")
        front, backend = (counts.get(who) if isinstance(counts, Mapping) else None for who in TAKERS)
        if not isinstance(front, int) or not isinstance(backend, int):
            return
        same = front == backend
        yield finding(
            self,
            "prompts",
            Outcome.PASS if same else Outcome.INCONCLUSIVE,
            f"A short prompt has {backend} tokens, by the backend and through the front."
            if same
            else f"A short prompt of {backend} tokens has {front} through the front, which adds to prompts, "
            "takes from them or writes them anew, or counts them wrong.",
            figures=tuple(
                Figure(name=f"by the {who}", value=tokens, unit="tokens")
                for who, tokens in zip(TAKERS, (front, backend), strict=True)
            ),
            limit="as many by both",
            strength="two prompts, before the load",
            fault="" if same else "front",
        )

    def _parameters(self, found: Arrivals) -> Finding:
        """Parameters that a slot shows otherwise than they were sent, and seeds that none shows."""
        limit = found.capped
        changed = [c for c in found.changed if limit is None or c.name != "max_tokens"]
        if changed:
            requests = {c.request.id for c in changed}
            names = listed(sorted({c.name for c in changed}), SHOWN)
            told = (
                f"{names} in {counted(len(requests), 'request')} of {found.looked_at} that were seen; first: "
            )
            answer = f"Sampling parameters were changed on the way: {told}{changed[0].told}."
            outcome = Outcome.FAIL
        elif found.lost:
            some_seen = found.looked_at > 0
            certain = some_seen or any(group.is_certain for group in found.lost)
            outcome = Outcome.FAIL if certain else Outcome.INCONCLUSIVE
            answer = (
                f"{'Sampling parameters were changed on the way' if certain else 'No slot shows a seed'}: "
            )
            answer += f"{listed([_lost(group) for group in found.lost], SHOWN, '; ', limit=300)}."
        else:
            outcome = Outcome.INCONCLUSIVE
            answer = f"The server lowers max_tokens to {limit:g}, a limit of its own."
        return finding(
            self,
            "parameters",
            outcome,
            answer,
            figures=(
                Figure(name="changed", value=len({c.request.id for c in found.changed}), n=found.looked_at),
                Figure(name="never shown", value=sum(len(group.requests) for group in found.lost)),
            ),
            limit="temperature, max_tokens and seed as sent",
            exchanges=ids([*(c.request for c in found.changed), *_requests(found.lost)]),
            strength="as /slots shows the requests that it works on",
            critical=bool(changed or found.lost),
            fault="front" if outcome is Outcome.FAIL else "",
        )

    def _twice(self, found: Arrivals) -> Finding:
        first, at = found.twice[0]
        return finding(
            self,
            "twice",
            Outcome.FAIL,
            f"{counted(len(found.twice), 'request was', 'requests were')} worked on twice, in two slots or "
            f"as two tasks, though sent once; first: {request_name(first)} at {at:.1f} s.",
            figures=(Figure(name="twice", value=len(found.twice), n=found.looked_at),),
            limit="once",
            exchanges=ids(request for request, _ in found.twice),
            span=(at, found.twice[-1][1]),
            strength="as /slots shows the seeds that it works on",
            fault="front",
        )

    def _as_sent(self, found: Arrivals, strength: str) -> Finding:
        seen = found.looked_at
        return finding(
            self,
            "requests",
            Outcome.PASS if seen else Outcome.INCONCLUSIVE,
            f"{counted(seen, 'request')} seen at a slot: each once, and nothing of it changed that is shown."
            if seen
            else "No slot was seen to work for a request of this run: how they arrived is unknown.",
            figures=(Figure(name="seen", value=seen),),
            limit="each once, and as sent",
            strength=strength,
            critical=False,
        )

    def _unseen(self) -> Finding:
        return finding(
            self,
            "requests",
            Outcome.INCONCLUSIVE,
            "The slots were not seen as they were: how requests arrived is unknown.",
            limit="each once, and as sent",
            critical=False,
        )


def _replayed(found: Sequence[Stored], what: str) -> str:
    first = found[0]
    many = counted(len(found), "request was", "requests were")
    return (
        f"{many} given {what}; first: {request_name(first.reader)} got that of {request_name(first.source)}."
    )


def _sign(found: Sequence[Stored]) -> str:
    many = Counter(s.sign for s in found)
    return ", ".join(f"{many[sign]} {words}" for sign, words in SIGNS.items() if many[sign])


def _lost(group: Lost) -> str:
    asked = "" if group.temperature is None else f" with temperature {group.temperature:g}"
    shown = listed([f"{t:g}" for t in sorted(group.shown)], SHOWN)
    of = f", of temperature {shown}" if shown else ""
    return (
        f"the seed of requests{asked} stood at no slot in {group.looks} looks while they were answered, "
        f"and slots worked for requests without a seed{of}"
    )


def _requests(lost: Iterable[Lost]) -> Iterable[str]:
    return (id for group in lost for id in group.requests)
