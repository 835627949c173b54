"""Prompts that several scenarios ask: registers of records, and prose. Pure, drawn by ``it``.

The words are in scenarios/prompts/*.txt; here is only how they are put together.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from soakproof.context import IterationContext
from soakproof.records import Exchange
from soakproof.slips import excuse_slip

if TYPE_CHECKING:
    from soakproof.scenario import Ask, Yield

FEWEST_RECORDS = 6
QUOTED = 160  # characters of a wrong answer that a reason shows
NEAREST = 2  # records to choose from at a depth


@dataclass(frozen=True, slots=True)
class Register:
    """A list of records, each with a code. It begins with a nonce, so no two share their beginning."""

    text: str
    codes: Mapping[str, str]  # of every record, by its number
    asked: Sequence[str]  # numbers of the records to ask for, from all parts of the register

    def question(self, it: IterationContext, record: str) -> str:
        """The register, then a question whose only right answer is that record's code."""
        return f"{self.text}\n\n{it.phrase('lookup', record=record)}"


def register(it: IterationContext, tokens: int, *, asked: int = 1, share: float = 0.5) -> Register:
    """A register of about so many tokens, at most ``share`` of a slot's context.

    ``asked`` records are chosen from as many equal parts of it, so that its beginning, middle and end are
    all asked for; `at_depths` chooses closer. Only their codes are remembered as secrets: a long soak's
    memory stays small.
    """
    room = it.chars(tokens, share)
    head = f"Register {it.nonce()}. {it.phrase('register_head')}"
    first = it.draw.randrange(2)
    lines: list[str] = []
    codes: dict[str, str] = {}
    while room > 0 or len(lines) < max(FEWEST_RECORDS, asked):
        record = f"{first + len(lines):04d}"
        codes[record] = it.code(secret=False)
        lines.append(_line(it, record, codes[record]))
        room -= len(lines[-1]) + 1
    chosen = _one_of_each_part(it, codes, asked) if asked else []
    for record in chosen:
        it.remember(codes[record])
    return Register("\n".join([head, "", *lines]), codes, chosen)


def _line(it: IterationContext, record: str, code: str) -> str:
    place, keeper, status = (it.draw.choice(it.lines(c)) for c in ("places", "keepers", "statuses"))
    return it.phrase("register_line", record=record, place=place, keeper=keeper, code=code, status=status)


def _one_of_each_part(it: IterationContext, codes: Mapping[str, str], parts: int) -> list[str]:
    """The record of each part whose code is least like any other: a model may slip from one into another."""
    likeness = _likeness(codes)
    records = list(codes)
    edges = [len(records) * n // parts for n in range(parts + 1)]
    chosen = [min(records[a:b], key=likeness) for a, b in itertools.pairwise(edges)]
    it.draw.shuffle(chosen)
    return chosen


def _likeness(codes: Mapping[str, str]) -> Callable[[str], int]:
    """How often the pairs of letters in a record's code come in other codes."""
    pairs = Counter(pair for code in codes.values() for pair in itertools.pairwise(code))
    return lambda record: sum(pairs[pair] - 1 for pair in itertools.pairwise(codes[record]))


def at_depths(it: IterationContext, made: Register, depths: Sequence[float]) -> list[str]:
    """A record at each depth of a register, 0 its first and 1 its last; their codes become secrets.

    Of the two nearest to a depth it is the one whose code is least like any other.
    """
    records, likeness = list(made.codes), _likeness(made.codes)
    chosen = []
    for depth in depths:
        start = round(depth * (len(records) - NEAREST))
        chosen.append(min(records[start : start + NEAREST], key=likeness))
        it.remember(made.codes[chosen[-1]])
    return chosen


def missed_code(it: IterationContext, answer: Exchange, made: Register, record: str) -> tuple[str, str]:
    """How an answer misses a record's code, as a grade and in words; for the right one the grade is empty,
    and the words tell which code that is: in a long register nobody sees it.
    """
    text, want = answer.text.strip(), made.codes[record]
    if text == want:
        return "", f"{want}, as record {record} has it"
    known = "other_record" if text in made.codes.values() else "wrong"
    grade = "foreign" if it.foreign(answer) else known
    return grade, f"expected {want}, found {_quoted(text)}"


def _quoted(text: str) -> str:
    return repr(text[:QUOTED]) + ("…" if len(text) > QUOTED else "")


def check_code(
    it: IterationContext,
    check: str,
    ask: "Ask",
    said: Exchange,
    made: Register,
    record: str,
    *,
    regrade: Mapping[str, str] | None = None,
) -> Generator["Yield", Exchange, None]:
    """Check that ``said``, the answer to ``ask``, is the record's code and nothing else; a model's own slip
    is excused. ``regrade`` has other grades for some of `missed_code`'s.
    """
    grade, reason = missed_code(it, said, made, record)
    it.check(check, not grade, said, grade=(regrade or {}).get(grade, grade), reason=reason)
    if grade == "wrong":
        yield from excuse_slip(it, ask, said, made.codes[record])


def check_line(
    it: IterationContext, check: str, ask: "Ask", said: Exchange, line: str
) -> Generator["Yield", Exchange, None]:
    """The same of a line that was to be repeated."""
    text = said.text.strip()
    reason = "" if text == line else f"expected {line!r}, found {_quoted(text)}"
    it.check(check, not reason, said, reason=reason)
    if reason:
        yield from excuse_slip(it, ask, said, line)


def prose(it: IterationContext) -> str:
    """Asks for prose that goes on and on; its nonce sets it apart from every other request."""
    return f"Request {it.nonce()}. {it.phrase('prose', theme=it.draw.choice(it.lines('themes')))}"


def prose_above(it: IterationContext, tokens: int, share: float = 0.5) -> str:
    """The same after a register of about so many tokens."""
    return f"{register(it, tokens, share=share).text}\n\n{it.phrase('prose_above')}"
