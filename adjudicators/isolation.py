"""Leaks between requests, looked for over the whole run and all its nodes, in text and in reasoning."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from soakproof.judge import (
    NONCE_LETTERS,
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    all_said,
    counted,
    disguised,
    finding,
    ids,
    nonces,
    plain,
)
from soakproof.judge.lentreasoning import PIECE, lent
from soakproof.judge.origins import Mixed, mixed
from soakproof.judge.sharedwords import WORDS, shared_words
from soakproof.judge.telling import request_name
from soakproof.records import Exchange, Opened

OVERLAP = "isolation.overlap"  # count of the iterations that ask two clients at once


@dataclass(frozen=True)
class Leak:
    """A nonce of one request in another one's answer."""

    nonce: str
    reader: Exchange
    owner: Exchange | Opened

    @property
    def age(self) -> float | None:
        """Seconds from the owner's end to the reader's sending; 0 where they overlapped; None: no end."""
        if not isinstance(self.owner, Exchange):
            return None
        return max(0, self.reader.sent_ns - self.owner.done_ns) / NS


@dataclass(frozen=True)
class Isolation(Adjudicator):
    """Did any answer carry a secret of another request, and did requests really run at once?

    ``overlaps`` is how many pairs of answers must have been generated at the same time at least.
    """

    overlaps: int = 1
    ranges = Ranges(overlaps=(0, 1_000_000))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._foreign(evidence)
        yield from self._mixed(evidence)
        yield from self._lent(evidence)
        yield from self._shared(evidence)
        yield self._overlap(evidence)

    def _foreign(self, evidence: Evidence) -> Finding:
        requests: list[Exchange | Opened] = [*evidence.exchanges, *evidence.unclosed]
        secrets = {nonce for request in requests for nonce in request.secrets}
        answered = [e for e in evidence.exchanges if all_said(e) or e.stray_secrets]
        dropped = [e for e in evidence.exchanges if e.token_events and not all_said(e)]
        bare = {nonce.replace("-", ""): nonce for nonce in secrets}
        # Of secrets that are made of a nonce's letters any spelling is found; of others only their own.
        to_find = frozenset[str]() if set[str]().union(*bare) <= set(NONCE_LETTERS) else secrets
        foreign = [(e, found) for e in answered if (found := _foreign(e, to_find, bare))]
        leaks = _leaks(foreign, requests)
        ages = [leak.age for leak in leaks if leak.age is not None]
        if leaks:
            outcome, answer = Outcome.FAIL, _story(leaks)
        elif not secrets or not answered:
            outcome = Outcome.INCONCLUSIVE
            answer = f"Nothing to look for: {counted(len(secrets), 'secret')}, {len(answered)} answers."
        elif dropped:
            outcome = Outcome.INCONCLUSIVE
            answer = f"Not searched: the texts of {counted(len(dropped), 'answer')} were not kept."
        else:
            outcome = Outcome.PASS
            answer = f"None of {len(secrets)} secrets stood in another's answer, of {len(answered)} searched."
        return finding(
            self,
            "foreign",
            outcome,
            answer,
            figures=(
                Figure(name="leaks", value=len(leaks), n=len(answered)),
                Figure(name="secrets", value=len(secrets)),
                Figure(name="answers not kept", value=len(dropped), n=len(evidence.exchanges)),
                Figure(name="greatest age of a leak", value=max(ages, default=None), unit="s", n=len(ages)),
            ),
            limit="no leak",
            exchanges=ids(id for leak in leaks for id in (leak.reader.id, leak.owner.id)),
            fault="server" if leaks else "",
        )

    def _mixed(self, evidence: Evidence) -> Iterable[Finding]:
        """Pieces of one answer in another, told by the id that each piece carries."""
        found = mixed(evidence.exchanges)
        if found:
            readers = ids(m.reader for m in found)
            many = len({m.reader.id for m in found})
            yield finding(
                self,
                "mixed",
                Outcome.FAIL,
                f"{counted(many, 'answer is', 'answers are')} mixed with those of others, by the ids of "
                f"their pieces; first: {_mixture(found[0])}.",
                figures=(Figure(name="mixed", value=many, n=len(evidence.exchanges)),),
                limit="no piece of another's answer",
                exchanges=ids([*readers, *(m.owner.id for m in found)]),
                strength="each id is one answer's own, by the rule of this run",
                fault="front",
            )

    def _lent(self, evidence: Evidence) -> Iterable[Finding]:
        """Another's answer where this one's reasoning stands, of a model that seldom reasons."""
        found = lent(evidence.exchanges)
        if found:
            first = found[0]
            yield finding(
                self,
                "reasoning",
                Outcome.FAIL,
                f"{counted(len(found), 'answer has', 'answers have')} as reasoning what others were told; "
                f"first: {request_name(first.reader)} that of {request_name(first.owner)}.",
                figures=(Figure(name="with another's text", value=len(found), n=len(evidence.exchanges)),),
                limit="none",
                exchanges=ids(e.id for one in found for e in (one.reader, one.owner)),
                strength=f"{PIECE} characters in a row, and most answers have no reasoning",
                fault="front",
            )

    def _shared(self, evidence: Evidence) -> Iterable[Finding]:
        """Words of one drawn answer in another: whose they are no code tells."""
        found = shared_words(evidence.exchanges)
        if found:
            longest = max(found, key=lambda one: len(one.words))
            told = plain(" ".join(longest.words), 80)
            yield finding(
                self,
                "words",
                Outcome.INCONCLUSIVE,
                f"{counted(len(found), 'answer has', 'answers have')} a long row of words in common with the "
                f"answer to another prompt; the longest, {len(longest.words)} words: "
                f"{request_name(longest.reader)} and {request_name(longest.owner)}: {told}.",
                figures=(Figure(name="with words of another", value=len(found), n=len(evidence.exchanges)),),
                limit=f"fewer than {WORDS} words in a row",
                exchanges=ids(e.id for one in found for e in (one.reader, one.owner)),
                strength="both were drawn at a temperature, to different prompts",
            )

    def _overlap(self, evidence: Evidence) -> Finding:
        """Over the run, and within the iterations that were made for it."""
        pairs = _pairs_at_once(evidence.exchanges)
        within = [i.counts[OVERLAP] for i in evidence.iterations if OVERLAP in i.counts]
        enough = pairs >= self.overlaps and (not within or sum(within) > 0)
        told = f"; iterations of isolation counted {sum(within):g} in {len(within)}" if within else ""
        return finding(
            self,
            "overlap",
            Outcome.PASS if enough else Outcome.INCONCLUSIVE,
            f"{counted(pairs, 'pair')} of answers were generated at the same time{told}"
            f"{'' if enough else ', so nothing is shown of requests beside each other'}.",
            figures=(
                Figure(name="pairs at once", value=pairs, n=len(evidence.exchanges)),
                Figure(name=OVERLAP, value=sum(within) if within else None, n=len(within)),
            ),
            limit=f"at least {self.overlaps}",
            limit_source="policy",
        )


def _foreign(reader: Exchange, secrets: Set[str], bare: Mapping[str, str]) -> Set[str]:
    """Secrets of other requests in all that an exchange was sent: in any spelling those that ``bare`` has by
    their letters, as they are those of ``secrets``.
    """
    said = all_said(reader)
    stray = (found.replace("-", "") for found in reader.stray_secrets)
    told = {bare[letters] for letters in (*disguised(said), *stray) if letters in bare}
    if secrets:
        told |= nonces(said) & secrets
    return told.difference(reader.secrets)


def _leaks(foreign: Sequence[tuple[Exchange, Set[str]]], requests: Iterable[Exchange | Opened]) -> list[Leak]:
    """Each secret with the last request that had it before the reader's end; else with the first that had it.
    A request that never closed counts too.
    """
    sought = frozenset[str]().union(*(told for _, told in foreign))
    owners: dict[str, list[Exchange | Opened]] = {nonce: [] for nonce in sought}
    for request in sorted(requests, key=lambda r: r.sent_ns) if sought else ():
        for nonce in sought.intersection(request.secrets):
            owners[nonce].append(request)
    found = []
    for reader, told in foreign:
        for nonce in sorted(told):
            before = [o for o in owners[nonce] if o.sent_ns <= reader.done_ns]
            found.append(Leak(nonce, reader, before[-1] if before else owners[nonce][0]))
    return found


def _story(leaks: Sequence[Leak]) -> str:
    """The first leak in words, and how many there are."""
    leak = leaks[0]
    readers = len({leak.reader.id for leak in leaks})
    return (
        f"{counted(readers, 'answer carries', 'answers carry')} secrets of other requests; first: "
        f"{request_name(leak.reader)} says {leak.nonce}{_where(leak)}, which belongs to "
        f"{request_name(leak.owner)}, "
        f"{_when(leak)}."
    )


def _where(leak: Leak) -> str:
    """That it came where clients do not read, if so."""
    reader = leak.reader
    if leak.nonce not in nonces(all_said(reader)):
        if leak.nonce.replace("-", "") in disguised(all_said(reader)):
            return " in another spelling"
        return " in its headers, in a comment or in a field beside the answer"
    late = leak.nonce in reader.text_after_done
    early = any(leak.nonce in part for part in (reader.text, reader.reasoning, reader.tool_calls))
    return " after its [DONE]" if late and not early else ""


def _when(leak: Leak) -> str:
    if leak.owner.sent_ns > leak.reader.done_ns:
        return "sent only later: told by an earlier run of the same seed"
    if leak.age is None:
        return "which never ended"
    if not leak.age:
        return "running at the same time"
    cancelled = isinstance(leak.owner, Exchange) and leak.owner.cancelled_ns is not None
    return f"{'cancelled' if cancelled else 'ended'} {leak.age:.1f} s before"


def _mixture(mixed: Mixed) -> str:
    when = "running at the same time" if mixed.at_once else "not at the same time"
    return f"{request_name(mixed.reader)} has pieces of the answer of {request_name(mixed.owner)}, {when}"


def _pairs_at_once(exchanges: Iterable[Exchange]) -> int:
    """Pairs of answers whose times from the first to the last token overlap."""
    spans = [
        (e.first_token_ns, e.last_token_ns)
        for e in exchanges
        if e.first_token_ns is not None and e.last_token_ns is not None and e.last_token_ns > e.first_token_ns
    ]
    changes = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    pairs = running = 0
    for _, change in changes:  # at one instant ends come before starts: touching is not overlapping
        pairs += running if change > 0 else 0
        running += change
    return pairs
