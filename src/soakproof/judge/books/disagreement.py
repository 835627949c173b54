"""One way in which two books of a run disagree, told with the first place. No I/O."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge.telling import counted, ids
from soakproof.plain import plain


@dataclass(frozen=True, slots=True)
class Disagreement:
    """``subject`` is the book, ``told`` the sentence; ``exchanges`` has the first ids, if it is of some."""

    subject: str
    told: str
    exchanges: tuple[str, ...] = ()


def of_exchanges(subject: str, found: Sequence[str], what: str) -> Iterator[Disagreement]:
    """One disagreement for all exchanges of these ids, or none: ``3 requests <what>, first load-7``."""
    if found:
        told = f"{counted(len(found), 'request')} {what}, first {plain(found[0], 80)}"
        yield Disagreement(subject, told, ids(found))


def in_turn(subject: str, found: Mapping[str, Sequence[tuple[int, str]]]) -> Iterator[Disagreement]:
    """The same of several things that are wrong, each with (place, id) of its exchanges in their order: the
    one that comes first is told first.
    """
    there = [(what, those) for what, those in found.items() if those]
    for what, those in sorted(there, key=lambda one: one[1][0][0]):
        yield from of_exchanges(subject, [id for _, id in those], what)


def of_places(
    subject: str, found: Sequence[str], one: str, what: str, many: str = ""
) -> Iterator[Disagreement]:
    """The same of things that are no exchanges: ``2 iterations <what>, first isolation 4``."""
    if found:
        yield Disagreement(subject, f"{counted(len(found), one, many)} {what}, first {plain(found[0], 120)}")
