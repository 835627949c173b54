"""Isolation: several clients at the same instant, each told to say its own line. No word may cross over.

Lines of plain words are broken in their middle: an answer whose white space was changed on its way is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.scenario import (
    Ask,
    Exchange,
    IterationContext,
    Ranges,
    Ratio,
    Scenario,
    Script,
    Together,
    excuse_slip,
)


@dataclass(frozen=True)
class Isolation(Scenario):
    """Each client must answer with its own line, and no answer may hold a secret of any other request."""

    checks = ("isolation.own", "isolation.foreign")
    clients: int = 2
    words: int = 12  # of each line
    without_marker: Ratio = Ratio(0.3)  # lines of plain words: what bleeds need not hold a marker
    with_secret: Ratio = Ratio(0.4)  # iterations with a secret in each system prompt
    ranges = Ranges(clients=(2, 256), words=(1, 1000), without_marker=(0, 1), with_secret=(0, 1))

    @property
    def width(self) -> int:
        return self.clients

    def iterate(self, it: IterationContext) -> Script:
        clients = min(self.clients, max(2, it.around.slots))
        lines = [self._line(it) for _ in range(clients)]
        guarded = it.draw.random() < self.with_secret
        asks = [ask(it, f"client-{n}", line, guarded) for n, line in enumerate(lines, 1)]
        answers = yield Together(*asks)
        for n, answer in enumerate(answers):
            grade = told_apart(answer.text.strip(), lines[n], lines[:n] + lines[n + 1 :])
            it.check("isolation.own", not grade, answer, grade=grade, reason=grade and answer.text[:160])
            if grade in ("wrong", "respaced"):
                yield from excuse_slip(it, asks[n], answer, lines[n])
        leaked = it.foreign(*answers)
        it.check("isolation.foreign", not leaked, *answers, reason=", ".join(sorted(leaked)))
        it.count("isolation.overlap", overlap(answers))

    def _line(self, it: IterationContext) -> str:
        if it.draw.random() < self.without_marker:
            words = it.lines("words")
            return in_two(it.draw.sample(list(words), min(self.words, len(words))))
        return it.secret(self.words)


def ask(it: IterationContext, role: str, line: str, guarded: bool) -> Ask:
    """Asks for the line; a guarded conversation has a secret of its own that no answer may tell."""
    text = it.phrase("echo_text" if "\n" in line else "echo", x=line)
    if not guarded:
        return Ask(text, role=role)
    return Ask((("system", it.phrase("system_secret", secret=it.nonce())), ("user", text)), role=role)


def in_two(words: Sequence[str]) -> str:
    """The words in two lines, of which the second is the longer; one word alone in one line."""
    half = len(words) // 2
    return "\n".join(" ".join(part) for part in (words[:half], words[half:]) if part)


def told_apart(text: str, mine: str, others: list[str]) -> str:
    """How an answer misses its line: in its white space only, it is another's, has a part of another's, is
    wrong; "" if right.
    """
    if text == mine:
        return ""
    if text.split() == mine.split():
        return "respaced"
    if text in others:
        return "swapped"
    pieces = {piece for other in others for piece in _triples(other)} - _triples(mine)
    return "mixed" if pieces & _triples(text) else "wrong"


def _triples(line: str) -> set[tuple[str, ...]]:
    words = line.split()
    return set(zip(words, words[1:], words[2:], strict=False))


def overlap(answers: tuple[Exchange, ...]) -> int:
    """1 if at one moment all of them had a token behind and one ahead, 0 if not."""
    first = [a.first_token_ns for a in answers if a.first_token_ns is not None]
    last = [a.last_token_ns for a in answers if a.last_token_ns is not None]
    return int(len(first) == len(last) == len(answers) and max(first) < min(last))
