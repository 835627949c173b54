"""Whose answer a request was given: by the ids, the times and the words of answers. Pure; no I/O.

An id tells only where answers have ids of their own as a rule: some servers call every answer the same. Long
texts that were drawn at a temperature tell by themselves: no two of them are the same by chance.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from soakproof.columns import Table
from soakproof.columns.facts import LONG_CHARS
from soakproof.records import Exchange
from soakproof.replays import is_replay, tells, times

DRAWN_AT = 0.5  # a temperature from which on texts are drawn, and the likeliest one is not always taken
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


def stored(table: Table[Exchange]) -> list[Stored]:
    """Whole answers that were given before, each with the first that was given it; in order of their ends."""
    answers = table.where(table.whole & table.fact("has_text"))
    ids_tell = _are_own(answers["answer_id"].tolist())
    first: dict[Hashable, Exchange] = {}
    found = []
    for answer in _by_end(answers.where(_share_signs(answers, ids_tell))):
        signs = list(_signs(answer, ids_tell))
        known = (first[sign] for sign in signs if sign in first)
        source = next((e for e in known if is_replay(answer, e)), None)
        if source is not None:
            found.append(Stored(answer, source))
        for sign in signs:
            first.setdefault(sign, answer)
    return found


def _share_signs(answers: Table[Exchange], ids_tell: bool) -> NDArray[np.bool_]:
    """Which answers may be one that was given before, or that one: those with the id and the words of another
    (or with its times, where ids do not tell), and all with the times and the words of one that came in less
    time than it claims. `is_replay` has the last word on each.
    """
    words, ids = answers.fact("digest").tolist(), answers["answer_id"].tolist()
    prompt, predicted = answers.timing("prompt_ms"), answers.timing("predicted_ms")
    works = list(zip(words, prompt.tolist(), predicted.tolist(), strict=True))
    same_id = _shared(list(zip(words if ids_tell else works, ids, strict=True)))
    same_id[same_id] = [tells(id) for id in answers["answer_id"][same_id]]
    is_fast = (prompt + predicted) / 1000 > answers.seconds("done_ns") - answers.seconds("sent_ns")
    doubtful = set(compress(works, (is_fast | same_id).tolist()))
    return np.asarray(same_id | np.array([work in doubtful for work in works], bool), bool)


def _shared(keys: Sequence[Hashable]) -> NDArray[np.bool_]:
    """Which of them are there more than once; an empty one is nobody's."""
    many = Counter(keys)
    return np.array([bool(key) and many[key] > 1 for key in keys], bool)


def _by_end(answers: Table[Exchange]) -> list[Exchange]:
    return sorted(answers.records, key=lambda e: e.done_ns)


def drawn_alike(table: Table[Exchange]) -> list[Stored]:
    """Long texts, drawn at a temperature, that another prompt had been answered with before, word for word up
    to the end of the shorter; those that `stored` knows left out.
    """
    drawn = table.where(table.whole & (table["temperature"] >= DRAWN_AT))
    first: dict[str, Exchange] = {}
    found = []
    for answer in _by_end(drawn.where(_shared(drawn.fact("opening").tolist()))):
        source = first.setdefault(answer.text[:LONG_CHARS], answer)
        short, long = sorted((answer.text, source.text), key=len)
        known = is_replay(answer, source) or answer.prompt_digest == source.prompt_digest
        if source is not answer and long.startswith(short) and not known:
            found.append(Stored(answer, source))
    return found


def _signs(answer: Exchange, ids_tell: bool) -> Iterator[Hashable]:
    if ids_tell and tells(answer.answer_id):
        yield answer.text, answer.answer_id
    if worked := times(answer):
        yield answer.text, worked


def mixed(table: Table[Exchange]) -> list[Mixed]:
    """Answers with an id in them, besides their first, that another exchange's answer has as well."""
    first, others = table["answer_id"].tolist(), table["other_ids"].tolist()
    if not any(others) or not _are_own(first):
        return []
    named = [_telling(*ids) for ids in zip(first, others, strict=True)]
    many = Counter(chain.from_iterable(named))
    shared = table.where(np.array([any(many[id] > 1 for id in ids) for ids in named], bool)).records
    carriers: dict[str, list[Exchange]] = {}
    for exchange in shared:
        for id in _ids(exchange):
            carriers.setdefault(id, []).append(exchange)
    readers = [e for e in shared if e.other_ids]
    return [Mixed(reader, owner, id) for reader in readers for id, owner in _owners(reader, carriers)]


def _owners(reader: Exchange, carriers: Mapping[str, Sequence[Exchange]]) -> Iterator[tuple[str, Exchange]]:
    """Ids in the answer that are another's: of several carriers the one that has no other id."""
    for id in _ids(reader):
        others = [e for e in carriers[id] if e is not reader]
        if others and (id in reader.other_ids or any(not e.other_ids for e in others)):
            yield id, min(others, key=lambda e: (e.answer_id != id, len(e.other_ids)))


def _ids(exchange: Exchange) -> list[str]:
    return _telling(exchange.answer_id, exchange.other_ids)


def _telling(first: str | None, others: Sequence[str]) -> list[str]:
    """Those of an answer's ids by which it is known among all others."""
    return [id for id in dict.fromkeys((first or "", *others)) if tells(id)]


def _are_own(answer_ids: Sequence[str | None]) -> bool:
    """Whether most ids are of one answer alone."""
    ids = [id for id in answer_ids if id]
    return len(set(ids)) >= OWN_SHARE * len(ids)
