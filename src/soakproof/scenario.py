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

import json
import reprlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from soakproof.amounts import amount
from soakproof.context import (
    NONCE_LETTERS,
    Checked,
    IterationContext,
    Secrets,
    Surroundings,
    Traffic,
    nonces,
)
from soakproof.plain import plain
from soakproof.prompts import (
    Register,
    at_depths,
    check_code,
    check_line,
    missed_code,
    prose,
    prose_above,
    register,
)
from soakproof.records import Exchange, Failure
from soakproof.replays import is_replay
from soakproof.slips import excuse_slip
from soakproof.strictjson import Parsed, as_floats, parse, same, violations
from soakproof.units import Bytes, Ranges, Ratio, Seconds, Tokens


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
        _expect(self.tokens is None or _whole(self.tokens), "After: tokens", "a whole number", self.tokens)
        _expect(self.seconds is None or _number(self.seconds), "After: seconds", "a number", self.seconds)
        _expect(isinstance(self.phase, str), "After: phase", "a text", self.phase)

    def __str__(self) -> str:
        when = f"{self.tokens} token events" if self.tokens is not None else f"{self.seconds} s"
        return f"{self.phase}: after {when}"


_OUR_FIELDS = frozenset(("model", "seed", "stream", "stream_options"))  # which reading and records rely on


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
    refused: bool = False  # a refusal is no failure of it: what it is like is for checks
    model: str | None = None  # another than the run's
    more: Mapping[str, Any] | None = None  # fields laid over the body, such as one of a wrong type

    def __post_init__(self) -> None:
        _expect(_are_messages(self.messages), "Ask: messages", "a text, or (role, text) pairs", self.messages)
        _expect(isinstance(self.role, str), "Ask: role", "a text", self.role)
        _expect(_whole(self.tokens) and self.tokens > 0, "Ask: tokens", "a whole number from 1", self.tokens)
        _expect(_number(self.temperature), "Ask: temperature", "a number", self.temperature)
        _expect(self.cancel is None or isinstance(self.cancel, After), "Ask: cancel", "an After", self.cancel)
        if self.response_format is not None:
            json.dumps(self.response_format)  # raises TypeError for what JSON cannot carry
        named = self.model is None or (isinstance(self.model, str) and self.model.isprintable())
        _expect(named, "Ask: model", "a name", self.model)
        if self.more is not None:
            json.dumps(self.more)
            told = _OUR_FIELDS.isdisjoint(self.more)
            _expect(told, "Ask: more", f"fields other than {', '.join(sorted(_OUR_FIELDS))}", self.more)

    def chat(self) -> list[dict[str, str]]:
        """The messages as the API takes them. What UTF-8 cannot carry of an earlier answer is replaced."""
        pairs = (("user", self.messages),) if isinstance(self.messages, str) else self.messages
        return [{"role": role, "content": text.encode("utf-8", "replace").decode()} for role, text in pairs]


@dataclass(frozen=True, slots=True)
class Together:
    """Several requests sent at the same instant; answered by a tuple of exchanges, in order."""

    asks: tuple[Ask, ...]

    def __init__(self, *asks: Ask) -> None:
        if not asks:
            raise ValueError("Together takes one request or more")
        for ask in asks:
            _expect(isinstance(ask, Ask), "Together", "requests", ask)
        object.__setattr__(self, "asks", asks)


@dataclass(frozen=True, slots=True)
class Start:
    """Send a request and go on at its first token; answered by a `Started`."""

    ask: Ask

    def __post_init__(self) -> None:
        _expect(isinstance(self.ask, Ask), "Start", "a request", self.ask)


@dataclass(frozen=True, slots=True)
class Started:
    """A request under way, to be handed to `Finish`."""

    key: int


@dataclass(frozen=True, slots=True)
class Finish:
    """Wait for a started request to end; answered by its exchange."""

    started: Started

    def __post_init__(self) -> None:
        _expect(isinstance(self.started, Started), "Finish", "what Start was answered by", self.started)


@dataclass(frozen=True, slots=True)
class Released:
    """Wait until no busy slot works for this exchange any more; answered by a `Release`."""

    exchange: Exchange
    within: float  # seconds since the exchange's end

    def __post_init__(self) -> None:
        _expect(isinstance(self.exchange, Exchange), "Released", "an exchange", self.exchange)
        _expect(_number(self.within), "Released: within", "a number of seconds", self.within)


@dataclass(frozen=True, slots=True)
class Release:
    """What was seen of a slot after its client left."""

    freed: bool | None  # None: could not be seen
    seconds: float | None = None  # from the cancel to the first sight of it free
    reason: str = ""
    decoded: int | None = None  # tokens it decoded after the client had left, as far as seen


def _expect(met: bool, what: str, expected: str, found: object) -> None:
    """A wish that no driver could carry out is refused where it is made, in the scenario's own line."""
    if not met:
        raise TypeError(f"{what}: expected {expected}, found {plain(reprlib.repr(found), 80)}")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53


def _are_messages(value: object) -> bool:
    if isinstance(value, str):
        return True
    pairs = value if isinstance(value, (tuple, list)) else ()
    return bool(pairs) and all(
        isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in pairs
    )


Yield = Ask | Together | Start | Finish | Released
Reply = Any  # Exchange, tuple of them, Started or Release, as the class of what was yielded says
Script = Generator[Yield, Reply, None]


@dataclass(frozen=True)
class Scenario:
    """Base of every scenario. Subclass it in a file of its own; the file's stem is its name."""

    checks: ClassVar[tuple[str, ...]] = ()
    ranges: ClassVar[Ranges] = Ranges()  # what its options may be set to, where that is bounded
    registers: ClassVar[bool] = False  # whether its long prompts are registers, whose tokens can be compared

    @property
    def width(self) -> int:
        """Slots that an iteration holds while it runs: write ``width = 2``, or a property of the options.

        Where the target has fewer slots, the iteration holds them all and its requests queue.
        """
        return 1

    def iterate(self, it: IterationContext) -> Script:
        raise NotImplementedError


class AskFailed(Exception):
    """Raised inside a scenario when a request failed and did not say ``may_fail``."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(f"{exchange.role}: {exchange.failure or exchange.outcome}: {exchange.reason}")
        self.exchange = exchange


__all__ = [
    "NONCE_LETTERS",
    "After",
    "Ask",
    "AskFailed",
    "Bytes",
    "Checked",
    "Exchange",
    "Failure",
    "Finish",
    "IterationContext",
    "Parsed",
    "Ranges",
    "Ratio",
    "Register",
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
    "Traffic",
    "Yield",
    "amount",
    "as_floats",
    "at_depths",
    "check_code",
    "check_line",
    "excuse_slip",
    "is_replay",
    "missed_code",
    "nonces",
    "parse",
    "prose",
    "prose_above",
    "register",
    "same",
    "violations",
]
