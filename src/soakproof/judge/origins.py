"""Whose answer a request was given: by the ids, the times and the words of answers. Pure; no I/O.

An id tells only where answers have ids of their own as a rule: some servers call every answer the same. Long
texts that were drawn at a temperature tell by themselves: no two of them are the same by chance.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge.claims import whole
from soakproof.records import Exchange
from soakproof.replays import is_replay, tells, times

DRAWN_AT = 0.5  # a temperature from which on texts are drawn, and the likeliest one is not always taken
LONG_CHARS = 300
LONG_WORDS = 30  # different ones: what goes round in circles may come twice
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
    def sign(self) -> str:
        """By what it is known: "id", "times", or "words"."""
        if not is_replay(self.reader, self.source):
            return "words"
        same_id = self.reader.answer_id is not None and self.reader.answer_id == self.source.answer_id
        return "id" if same_id else "times"


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
    texts, ids = Counter(a.text for a in answers), Counter(a.answer_id for a in answers)
    works = Counter(map(times, answers))
    first: dict[Hashable, Exchange] = {}
    found = []
    for answer in answers:
        if texts[answer.text] == 1 or max(ids[answer.answer_id], works[times(answer)]) == 1:
            continue  # it has nothing by which it could be another's
        signs = list(_signs(answer, ids_tell))
        known = (first[sign] for sign in signs if sign in first)
        source = next((e for e in known if is_replay(answer, e)), None)
        if source is not None:
            found.append(Stored(answer, source))
        for sign in signs:
            first.setdefault(sign, answer)
    return found


def drawn_alike(exchanges: Iterable[Exchange]) -> list[Stored]:
    """Long texts, drawn at a temperature, that another prompt had been answered with before, word for word up
    to the end of the shorter; those that `stored` knows left out.
    """
    drawn = (e for e in exchanges if whole(e) and (e.temperature or 0) >= DRAWN_AT and _is_varied(e.text))
    first: dict[str, Exchange] = {}
    found = []
    for answer in sorted(drawn, key=lambda e: e.done_ns):
        source = first.setdefault(answer.text[:LONG_CHARS], answer)
        short, long = sorted((answer.text, source.text), key=len)
        known = is_replay(answer, source) or answer.prompt_digest == source.prompt_digest
        if source is not answer and long.startswith(short) and not known:
            found.append(Stored(answer, source))
    return found


def _is_varied(text: str) -> bool:
    return len(text) >= LONG_CHARS and len(set(text[:LONG_CHARS].split())) >= LONG_WORDS


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
