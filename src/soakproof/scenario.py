"""What a scenario is, and what it may yield. Pure: no socket, no clock, no Locust.

A scenario is a frozen dataclass whose fields are its options (a plan may set them) and whose `iterate`
is a generator. It yields what takes time and is handed the result; checks and counts are plain calls:

    @dataclass(frozen=True)
    class Echo(Scenario):
        \"\"\"Says back exactly what it was told.\"\"\"
        checks = ("echo.exact",)

        def iterate(self, it):
            line = it.secret(4)
            answer = yield Ask(f"Repeat exactly: {line}")
            it.check("echo.exact", answer.text == line, answer)
"""

import random
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from soakproof.records import Exchange
from soakproof.units import Bytes, Ratio, Seconds, Tokens


@dataclass(frozen=True, slots=True)
class After:
    """When to cancel: after so many token events, or so many seconds after sending, whichever is set.

    ``phase`` names what the cancel is meant to hit; the driver records it, and judging uses it to pick the
    bound and the front's known limits: decode, first_token, prefill, queued, near_end, unstreamed.
    """

    tokens: int | None = None
    seconds: float | None = None
    phase: str = "decode"

    def __post_init__(self) -> None:
        if (self.tokens is None) == (self.seconds is None):
            raise ValueError("After takes either tokens or seconds")

    def __str__(self) -> str:
        when = f"{self.tokens} token events" if self.tokens is not None else f"{self.seconds} s"
        return f"{self.phase}: after {when}"


@dataclass(frozen=True, slots=True)
class Ask:
    """One chat request. ``messages`` is the user's text, or (role, text) pairs."""

    messages: str | tuple[tuple[str, str], ...]
    role: str = "ask"  # its part in the iteration; shown in reports
    tokens: int = 512  # max_tokens
    force: bool = False  # go on to exactly `tokens` tokens (ignore_eos)
    stream: bool = True
    temperature: float = 0.0
    response_format: Mapping[str, Any] | None = None
    cancel: After | None = None
    may_fail: bool = False  # hand a failed exchange back instead of ending the iteration

    def chat(self) -> list[dict[str, str]]:
        """The messages as the API takes them."""
        pairs = (("user", self.messages),) if isinstance(self.messages, str) else self.messages
        return [{"role": role, "content": text} for role, text in pairs]


@dataclass(frozen=True, slots=True)
class Together:
    """Several requests sent at the same instant; answered by a tuple of exchanges, in order."""

    asks: tuple[Ask, ...]

    def __init__(self, *asks: Ask) -> None:
        object.__setattr__(self, "asks", asks)


@dataclass(frozen=True, slots=True)
class Start:
    """Send a request and go on at its first token; answered by a `Started`."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class Started:
    """A request under way, to be handed to `Finish`."""

    key: int


@dataclass(frozen=True, slots=True)
class Finish:
    """Wait for a started request to end; answered by its exchange."""

    started: Started


@dataclass(frozen=True, slots=True)
class Released:
    """Wait until no busy slot works for this exchange any more; answered by a `Release`."""

    exchange: Exchange
    within: float  # seconds since the exchange's end


@dataclass(frozen=True, slots=True)
class Release:
    """What was seen of a slot after its client left."""

    freed: bool | None  # None: could not be seen
    seconds: float | None = None  # from the cancel to the first sight of it free
    reason: str = ""


Yield = Ask | Together | Start | Finish | Released
Reply = Any  # Exchange, tuple of them, Started or Release, as the class of what was yielded says
Script = Generator[Yield, Reply, None]


@dataclass(frozen=True)
class Scenario:
    """Base of every scenario. Subclass it in a file of its own; the file's stem is its name."""

    checks: ClassVar[tuple[str, ...]] = ()
    width: ClassVar[int] = 1  # slots that an iteration holds while it runs

    def iterate(self, it: "IterationContext") -> Script:
        raise NotImplementedError


class AskFailed(Exception):
    """Raised inside a scenario when a request failed and did not say ``may_fail``."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(f"{exchange.role}: {exchange.failure or exchange.outcome}: {exchange.reason}")
        self.exchange = exchange


__all__ = [
    "After",
    "Ask",
    "AskFailed",
    "Bytes",
    "Finish",
    "IterationContext",
    "Ratio",
    "Release",
    "Released",
    "Scenario",
    "Script",
    "Seconds",
    "Secrets",
    "Start",
    "Started",
    "Surroundings",
    "Together",
    "Tokens",
    "Yield",
]

NONCE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_NONCE = re.compile(r"(?<![A-Z0-9])(?:[A-HJ-NP-Z2-9]{8}|[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4})(?![A-Z0-9])")


def nonces(text: str) -> frozenset[str]:
    """Everything in the text that has the form of a nonce: eight letters and digits, or four and four."""
    return frozenset(_NONCE.findall(text))


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
        """Nonces of other requests in this one's answer or reasoning."""
        return self.known(f"{exchange.text}\n{exchange.reasoning}") - frozenset(exchange.secrets)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a scenario may know of the target and the run; fixed for a whole run, kept in run.json."""

    slots: int
    slot_context: int  # tokens
    chars_per_token: float
    corpora: Mapping[str, Sequence[str]] = field(default_factory=dict)  # file stem -> lines


@dataclass(frozen=True, slots=True)
class Checked:
    """A check's result as the scenario gave it; the driver adds node and time."""

    name: str
    outcome: bool | None
    grade: str
    reason: str
    exchanges: tuple[str, ...]


class IterationContext:
    """``it``: one iteration's seeded randomness, sizes, secrets, checks and counts."""

    def __init__(self, kind: str, number: int, seed: int, around: Surroundings, secrets: Secrets) -> None:
        self.kind = kind
        self.number = number
        self.around = around
        self.draw = random.Random(f"{seed}/{kind}/{number}")
        self.counts: dict[str, float] = {}
        self.checked: list[Checked] = []
        self._secrets = secrets

    def nonce(self) -> str:
        """Eight letters and digits that no other request of the run is told."""
        return self._secret("".join(self.draw.choices(NONCE_LETTERS, k=8)))

    def code(self) -> str:
        """The same as four and four: ``ABCD-2345``."""
        made = "".join(self.draw.choices(NONCE_LETTERS, k=8))
        return self._secret(f"{made[:4]}-{made[4:]}")

    def secret(self, words: int) -> str:
        """A line of ``words`` words that all carry one nonce, so that any fragment of it tells its owner."""
        nonce = self.nonce()
        return " ".join(f"{nonce}-{n:02d}" for n in range(1, words + 1))

    def _secret(self, made: str) -> str:
        self._secrets.add(made)
        return made

    def foreign(self, *exchanges: Exchange) -> frozenset[str]:
        """Nonces in these answers that belong to any other request of the whole run so far."""
        return frozenset().union(*(self._secrets.foreign(e) for e in exchanges))

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

    def check(
        self, name: str, outcome: bool | None, *exchanges: Exchange, grade: str = "", reason: str = ""
    ) -> None:
        """Record a declared check: True passes, False fails, None is unknown and needs a reason."""
        if outcome is None and not reason:
            raise ValueError(f"check {name} is unknown without a reason")
        self.checked.append(Checked(name, outcome, grade, reason, tuple(e.id for e in exchanges)))

    def count(self, name: str, amount: float = 1) -> None:
        """Add to a count of this iteration, judged over the whole run."""
        self.counts[name] = self.counts.get(name, 0) + amount
