"""Leaks between requests, looked for over the whole run and all its nodes, in text and in reasoning."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from soakproof.judge import (
    NONCE_LETTERS,
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Table,
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
_NONE = frozenset[str]()


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
        table = evidence.exchange_table
        secrets = set[str]().union(*table["secrets"].tolist(), *(o.secrets for o in evidence.unclosed))
        said = table.fact("said")
        answered = int((said | np.array([bool(s) for s in table["stray_secrets"].tolist()], bool)).sum())
        dropped = int(((table["token_events"] != 0) & ~said).sum())
        leaks = _leaks(evidence, _foreign(table, secrets))
        ages = [leak.age for leak in leaks if leak.age is not None]
        if leaks:
            outcome, answer = Outcome.FAIL, _story(leaks)
        elif not secrets or not answered:
            outcome = Outcome.INCONCLUSIVE
            answer = f"Nothing to look for: {counted(len(secrets), 'secret')}, {answered} answers."
        elif dropped:
            outcome = Outcome.INCONCLUSIVE
            answer = f"Not searched: the texts of {counted(dropped, 'answer')} were not kept."
        else:
            outcome = Outcome.PASS
            answer = f"None of {len(secrets)} secrets stood in another's answer, of {answered} searched."
        return finding(
            self,
            "foreign",
            outcome,
            answer,
            figures=(
                Figure(name="leaks", value=len(leaks), n=answered),
                Figure(name="secrets", value=len(secrets)),
                Figure(name="answers not kept", value=dropped, n=len(table)),
                Figure(name="greatest age of a leak", value=max(ages, default=None), unit="s", n=len(ages)),
            ),
            limit="no leak",
            exchanges=ids(id for leak in leaks for id in (leak.reader.id, leak.owner.id)),
            fault="server" if leaks else "",
        )

    def _mixed(self, evidence: Evidence) -> Iterable[Finding]:
        """Pieces of one answer in another, told by the id that each piece carries."""
        table = evidence.exchange_table
        found = mixed(table)
        if found:
            readers = ids(m.reader for m in found)
            many = len({m.reader.id for m in found})
            yield finding(
                self,
                "mixed",
                Outcome.FAIL,
                f"{counted(many, 'answer is', 'answers are')} mixed with those of others, by the ids of "
                f"their pieces; first: {_mixture(found[0])}.",
                figures=(Figure(name="mixed", value=many, n=len(table)),),
                limit="no piece of another's answer",
                exchanges=ids([*readers, *(m.owner.id for m in found)]),
                strength="each id is one answer's own, by the rule of this run",
                fault="front",
            )

    def _lent(self, evidence: Evidence) -> Iterable[Finding]:
        """Another's answer where this one's reasoning stands, of a model that seldom reasons."""
        table = evidence.exchange_table
        found = lent(table)
        if found:
            first = found[0]
            yield finding(
                self,
                "reasoning",
                Outcome.FAIL,
                f"{counted(len(found), 'answer has', 'answers have')} as reasoning what others were told; "
                f"first: {request_name(first.reader)} that of {request_name(first.owner)}.",
                figures=(Figure(name="with another's text", value=len(found), n=len(table)),),
                limit="none",
                exchanges=ids(e.id for one in found for e in (one.reader, one.owner)),
                strength=f"{PIECE} characters in a row, and most answers have no reasoning",
                fault="front",
            )

    def _shared(self, evidence: Evidence) -> Iterable[Finding]:
        """Words of one drawn answer in another: whose they are no code tells."""
        table = evidence.exchange_table
        found = shared_words(table)
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
                figures=(Figure(name="with words of another", value=len(found), n=len(table)),),
                limit=f"fewer than {WORDS} words in a row",
                exchanges=ids(e.id for one in found for e in (one.reader, one.owner)),
                strength="both were drawn at a temperature, to different prompts",
            )

    def _overlap(self, evidence: Evidence) -> Finding:
        """Over the run, and within the iterations that were made for it."""
        table = evidence.exchange_table
        pairs = _pairs_at_once(table)
        counts = evidence.iteration_table["counts"].tolist()
        within = [told[OVERLAP] for told in counts if OVERLAP in told]
        enough = pairs >= self.overlaps and (not within or sum(within) > 0)
        told = f"; iterations of isolation counted {sum(within):g} in {len(within)}" if within else ""
        return finding(
            self,
            "overlap",
            Outcome.PASS if enough else Outcome.INCONCLUSIVE,
            f"{counted(pairs, 'pair')} of answers were generated at the same time{told}"
            f"{'' if enough else ', so nothing is shown of requests beside each other'}.",
            figures=(
                Figure(name="pairs at once", value=pairs, n=len(table)),
                Figure(name=OVERLAP, value=sum(within) if within else None, n=len(within)),
            ),
            limit=f"at least {self.overlaps}",
            limit_source="policy",
        )


def _foreign(table: Table[Exchange], secrets: Set[str]) -> list[tuple[Exchange, Set[str]]]:
    """Exchanges that were sent secrets of others, wherever they stood, each with those secrets."""
    bare = {nonce.replace("-", ""): nonce for nonce in secrets}
    # Of secrets that are made of a nonce's letters any spelling is found; of others only their own.
    any_spelling = set[str]().union(*bare) <= set(NONCE_LETTERS)
    exact = [_NONE] * len(table) if any_spelling else table.fact("nonces").tolist()
    columns = (table.fact("codes").tolist(), table["stray_secrets"].tolist(), table["secrets"].tolist())
    foreign = [
        (_named(codes, stray, bare) | (spelled & secrets)).difference(own)
        for spelled, codes, stray, own in zip(exact, *columns, strict=True)
    ]
    readers = table.where(np.array([bool(told) for told in foreign], bool)).records
    return list(zip(readers, filter(None, foreign), strict=True))


def _named(codes: Set[str], stray: Sequence[str], bare: Mapping[str, str]) -> Set[str]:
    """The secrets that have these letters, which ``bare`` has them by."""
    if not codes and not stray:
        return _NONE
    letters = (*codes, *(found.replace("-", "") for found in stray))
    return {bare[one] for one in letters if one in bare}


def _leaks(evidence: Evidence, foreign: Sequence[tuple[Exchange, Set[str]]]) -> list[Leak]:
    """Each secret with the last request that had it before the reader's end; else with the first that had it.
    A request that never closed counts too.
    """
    sought = frozenset[str]().union(*(told for _, told in foreign))
    owners: dict[str, list[Exchange | Opened]] = {nonce: [] for nonce in sought}
    for request in _owners(evidence, sought) if sought else ():
        for nonce in sought.intersection(request.secrets):
            owners[nonce].append(request)
    found = []
    for reader, told in foreign:
        for nonce in sorted(told):
            before = [o for o in owners[nonce] if o.sent_ns <= reader.done_ns]
            found.append(Leak(nonce, reader, before[-1] if before else owners[nonce][0]))
    return found


def _owners(evidence: Evidence, sought: Set[str]) -> list[Exchange | Opened]:
    """Requests that had any of these secrets, as they were sent."""
    table = evidence.exchange_table
    is_owner = np.array([not sought.isdisjoint(own) for own in table["secrets"]], bool)
    return sorted([*table.where(is_owner).records, *evidence.unclosed], key=lambda r: r.sent_ns)


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


def _pairs_at_once(table: Table[Exchange]) -> int:
    """Pairs of answers whose times from the first to the last token overlap; touching is not overlapping."""
    first, last = table["first_token_ns"], table["last_token_ns"]
    has_length = last > first
    starts, ends = np.sort(first[has_length]), np.sort(last[has_length])
    # Each overlaps those that began before it, less those that had ended by then.
    return int((np.arange(len(starts)) - np.searchsorted(ends, starts, side="right")).sum())
