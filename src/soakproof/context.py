"""``it``: what a scenario is given for one iteration: seeded randomness, sizes, secrets, checks. No I/O.

A driver makes one `IterationContext` an iteration; `Secrets` and `Traffic` live as long as the run.
"""

import math
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from soakproof.errors import did_you_mean
from soakproof.records import Check, CheckOutcome, Exchange

NONCE_LETTERS = "BCDFGHJKMNPQRSTVWXZ479"  # no vowels: a nonce is never a word
_OUTCOMES: Mapping[bool | None, CheckOutcome] = {True: "pass", False: "fail", None: "unknown"}
# A class of characters first and what stands before it second: that is several times as fast.
_OF_NONCE, _ALONE, _END = "[A-HJ-NP-Z2-9]", "(?<![A-Z0-9].)", "(?![A-Z0-9])"
_NONCE = re.compile(f"{_OF_NONCE}{_ALONE}(?:{_OF_NONCE}{{7}}|{_OF_NONCE}{{3}}-{_OF_NONCE}{{4}}){_END}")
# Alone, in any case, with one mark between its letters at most. A word has vowels.
_RESPELLED = re.compile(f"[{NONCE_LETTERS}]{_ALONE}(?:[^A-Z0-9]?[{NONCE_LETTERS}]){{7}}{_END}")
_APART = re.compile(r"[^A-Z0-9]+")
_ROW = re.compile(f"[{NONCE_LETTERS}]{{8,}}".encode())  # in which eight may begin at several places
_MARKS = bytes(byte for byte in range(128) if not chr(byte).isalnum())


def all_said(exchange: Exchange) -> str:
    """All that was answered, wherever it stood, what came after [DONE] included; empty where nothing was."""
    parts = (exchange.text, exchange.reasoning, exchange.tool_calls, exchange.text_after_done)
    return "\n".join(part for part in parts if part)


def nonces(text: str) -> frozenset[str]:
    """Everything in the text that has the form of a nonce: eight letters and digits, or four and four."""
    return frozenset(_NONCE.findall(text))


def respelled(text: str) -> frozenset[str]:
    """The letters of each nonce that stands alone, in whatever case, marks between them left out."""
    return frozenset(_APART.sub("", found) for found in _RESPELLED.findall(text.upper()))


def disguised(text: str) -> frozenset[str]:
    """What has the letters of a nonce, eight in a row, whatever stands between them and however they are
    written: a leak may have lost its hyphen, its capitals, or the space before it.
    """
    bare = text.upper().encode("ascii", "ignore").translate(None, _MARKS)
    rows = [row.decode() for row in _ROW.findall(bare)] if len(bare) >= 8 else []
    return frozenset(row[at : at + 8] for row in rows for at in range(len(row) - 7))


class Secrets:
    """Every nonce that a run has handed out: what no other request may ever be told.

    Memory: about 100 bytes a nonce.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, nonce: str) -> None:
        self._known.add(nonce)

    def known(self, text: str) -> frozenset[str]:
        return nonces(text) & self._known

    def foreign(self, exchange: Exchange) -> frozenset[str]:
        """Nonces of other requests in anything that this one was answered."""
        return self.known(all_said(exchange)) - frozenset(exchange.secrets)


def estimated_tokens(characters: int, chars_per_token: float) -> int:
    """About how many tokens a text of so many characters has."""
    return int(characters / max(chars_per_token, 0.1))


class Traffic:
    """Tokens that a run has put through the server: what may have pushed a history out of its caches.

    A driver adds each exchange when it ends. One in flight lies in its slot, not in the host cache.
    """

    def __init__(self, chars_per_token: float) -> None:
        self._chars_per_token = chars_per_token
        self.tokens = 0

    def add(self, exchange: Exchange) -> None:
        """Its usage; what the server did not tell (a cancelled request) is estimated."""
        if exchange.refusal_planned and exchange.failure:
            return  # no slot has seen it
        prompt, answer = exchange.prompt_tokens, exchange.completion_tokens
        if prompt is None:
            prompt = estimated_tokens(exchange.prompt_chars, self._chars_per_token)
        self.tokens += prompt
        self.tokens += exchange.token_events if answer is None else answer


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a scenario may know of the target and the run; fixed for a whole run, kept in run.json."""

    slots: int
    slot_context: int  # tokens
    chars_per_token: float
    corpora: Mapping[str, Sequence[str]] = field(default_factory=dict)  # file stem -> lines
    cache_tokens: int | None = None  # what the server's host prompt cache holds; 0 without one
    front: str = ""  # "lemonade", "llamacpp"; some fronts have known limits
    batch: int | None = None  # tokens of a prompt that the server takes at a time
    ubatch: int | None = None  # and that it computes at a time


@dataclass(frozen=True, slots=True)
class Checked:
    """A check's result as the scenario gave it; the driver adds node and time."""

    name: str
    outcome: bool | None
    grade: str
    reason: str
    exchanges: tuple[str, ...]

    def record(self, *, node: str, t_ns: int, scenario: str, iteration: int) -> Check:
        """The result as evidence has it."""
        return Check(
            node=node,
            t_ns=t_ns,
            scenario=scenario,
            iteration=iteration,
            name=self.name,
            outcome=_OUTCOMES[self.outcome],
            grade=self.grade,
            reason=self.reason,
            exchanges=self.exchanges,
        )


class IterationContext:
    """``it``: one iteration's seeded randomness, sizes, secrets, checks and counts."""

    def __init__(
        self,
        kind: str,
        number: int,
        seed: int,
        around: Surroundings,
        secrets: Secrets,
        traffic: Traffic | None = None,
    ) -> None:
        self.kind = kind
        self.number = number
        self.around = around
        self.draw = random.Random(f"{seed}/{kind}/{number}")
        self.counts: dict[str, float] = {}
        self.checked: list[Checked] = []
        self.doubted: list[Checked] = []  # failed, and being asked about again
        self.declared: Collection[str] | None = None  # names that `check` may be given; None: any
        self._secrets = secrets
        self._traffic = traffic

    def nonce(self) -> str:
        """Eight letters and digits that no other request of the run is told."""
        return self.remember("".join(self.draw.sample(NONCE_LETTERS, 8)))

    def code(self, *, secret: bool = True) -> str:
        """The same as four and four: ``ABCD-2345``; remembered only where it is a secret."""
        made = "".join(self.draw.sample(NONCE_LETTERS, 8))
        code = f"{made[:4]}-{made[4:]}"
        return self.remember(code) if secret else code

    def secret(self, words: int) -> str:
        """A line of ``words`` words that all carry one nonce, so that any fragment of it tells its owner."""
        nonce = self.nonce()
        return " ".join(f"{nonce}-{n:02d}" for n in range(1, words + 1))

    def remember(self, nonce: str) -> str:
        """Make it a secret of the run: an answer to any other request that has it in it is a leak."""
        self._secrets.add(nonce)
        return nonce

    def foreign(self, *exchanges: Exchange) -> frozenset[str]:
        """Nonces in these answers that belong to any other request of the whole run so far."""
        return frozenset().union(*(self._secrets.foreign(e) for e in exchanges))

    def tokens_seen(self) -> int | None:
        """Tokens of all the run's exchanges that have ended so far; None where the driver does not count."""
        return None if self._traffic is None else self._traffic.tokens

    def chars(self, tokens: int, share: float = 0.5) -> int:
        """Characters that make about ``tokens`` tokens, at most ``share`` of a slot's context."""
        return int(min(tokens, self.around.slot_context * share) * self.around.chars_per_token)

    def tokens(self, wanted: int, share: float = 0.25) -> int:
        """``wanted`` tokens, at most ``share`` of a slot's context."""
        return max(1, int(min(wanted, self.around.slot_context * share)))

    def lines(self, corpus: str) -> Sequence[str]:
        """The lines of scenarios/prompts/<corpus>.txt."""
        try:
            return self.around.corpora[corpus]
        except KeyError:
            raise LookupError(
                f"no corpus {corpus!r}; there are: {', '.join(sorted(self.around.corpora))}"
            ) from None

    def phrase(self, corpus: str, **parts: object) -> str:
        """A drawn line of a corpus: its ``\\n`` made line ends, each ``{name}`` replaced by that part."""
        text = self.draw.choice(self.lines(corpus)).replace("\\n", "\n")
        for name, part in parts.items():
            text = text.replace(f"{{{name}}}", str(part))
        return text

    def check(
        self, name: str, outcome: bool | None, *exchanges: Exchange, grade: str = "", reason: str = ""
    ) -> None:
        """Record a declared check: True passes, False fails, None is unknown and needs a reason."""
        if not isinstance(outcome, bool | None):
            raise TypeError(f"check {name}: expected True, False or None, found {type(outcome).__name__}")
        for what, text in (("name", name), ("grade", grade), ("reason", reason)):
            if not isinstance(text, str):
                raise TypeError(f"check {name}: {what}: expected a text, found {type(text).__name__}")
        if self.declared is not None and name not in self.declared:
            hint = did_you_mean(name, self.declared).rstrip() or "write it into `checks`"
            raise LookupError(f"check {name!r} is not declared: {hint}")
        if outcome is None and not reason:
            raise ValueError(f"check {name} is unknown without a reason")
        self.checked.append(Checked(name, outcome, grade, reason, tuple(e.id for e in exchanges)))

    def count(self, name: str, amount: float = 1) -> None:
        """Add to a count of this iteration, judged over the whole run."""
        if not isinstance(name, str) or not isinstance(amount, (int, float)) or not math.isfinite(amount):
            raise TypeError(f"count {name}: expected a name and a finite number, found {amount!r}")
        self.counts[name] = self.counts.get(name, 0) + amount
