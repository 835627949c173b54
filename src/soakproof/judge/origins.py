"""Whose answer a request was given, by the ids that servers give their answers. Pure; no I/O.

An id tells only where answers have ids of their own as a rule: some servers call every answer the same.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge.claims import whole
from soakproof.records import Exchange
from soakproof.replays import is_replay, tells, times

OWN_SHARE = 0.5  # of the ids in a run that only one answer has, for ids to tell at all


@dataclass(frozen=True)
class Stored:
    """An answer that another request had been given before."""

    reader: Exchange
    source: Exchange

    @property
    def same_prompt(self) -> bool:
        return self.reader.prompt_digest == self.source.prompt_digest

    @property
    def by_id(self) -> bool:
        return self.reader.answer_id is not None and self.reader.answer_id == self.source.answer_id


@dataclass(frozen=True)
class Mixed:
    """An answer with pieces in it that are called as another request's answer is."""

    reader: Exchange
    owner: Exchange
    id: str

    @property
    def at_once(self) -> bool:
        """Whether both requests were under way at one time."""
        return self.reader.sent_ns < self.owner.done_ns and self.owner.sent_ns < self.reader.done_ns


def stored(exchanges: Iterable[Exchange]) -> list[Stored]:
    """Whole answers that were given before, each with the first that was given it; in order of their ends."""
    answers = sorted((e for e in exchanges if whole(e) and e.text), key=lambda e: e.done_ns)
    ids_tell = _are_own(answers)
    first: dict[Hashable, Exchange] = {}
    found = []
    for answer in answers:
        signs = list(_signs(answer, ids_tell))
        known = (first[sign] for sign in signs if sign in first)
        source = next((e for e in known if is_replay(answer, e)), None)
        if source is not None:
            found.append(Stored(answer, source))
        for sign in signs:
            first.setdefault(sign, answer)
    return found


def _signs(answer: Exchange, ids_tell: bool) -> Iterator[Hashable]:
    if ids_tell and tells(answer.answer_id):
        yield answer.text, answer.answer_id
    if worked := times(answer):
        yield answer.text, worked


def mixed(exchanges: Sequence[Exchange]) -> list[Mixed]:
    """Answers with an id in them, besides their first, that another exchange's answer has as well."""
    readers = [e for e in exchanges if e.other_ids]
    if not readers or not _are_own(exchanges):
        return []
    carriers: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        for id in _ids(exchange):
            carriers.setdefault(id, []).append(exchange)
    return [Mixed(reader, owner, id) for reader in readers for id, owner in _owners(reader, carriers)]


def _owners(reader: Exchange, carriers: Mapping[str, Sequence[Exchange]]) -> Iterator[tuple[str, Exchange]]:
    """Ids in the answer that are another's: of several carriers the one that has no other id."""
    for id in _ids(reader):
        others = [e for e in carriers[id] if e is not reader]
        if others and (id in reader.other_ids or any(not e.other_ids for e in others)):
            yield id, min(others, key=lambda e: (e.answer_id != id, len(e.other_ids)))


def _ids(exchange: Exchange) -> list[str]:
    named = dict.fromkeys((exchange.answer_id or "", *exchange.other_ids))
    return [id for id in named if tells(id)]


def _are_own(exchanges: Iterable[Exchange]) -> bool:
    """Whether most ids are of one answer alone."""
    ids = [e.answer_id for e in exchanges if e.answer_id]
    return len(set(ids)) >= OWN_SHARE * len(ids)
