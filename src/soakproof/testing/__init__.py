"""Plays a server to a scenario, so that its checks can be tested without one.

    from soakproof.testing import play

    def test_a_model_that_forgets_fails():
        assert play("recall", lambda ask: "OK").outcomes()["recall.exact"] is False

Nothing is sent. The scenario and the corpora are those of the folder one works in, else the bundled ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from soakproof.catalog import Catalog
from soakproof.clock import NS
from soakproof.context import IterationContext, Secrets, Surroundings, Traffic, estimated_tokens
from soakproof.iteration import Result, Stepper, passed
from soakproof.records import Exchange
from soakproof.request import opened
from soakproof.scenario import (
    Ask,
    AskFailed,
    Finish,
    Release,
    Released,
    Reply,
    Scenario,
    Start,
    Started,
    Together,
    Yield,
)

Answer = str | Mapping[str, Any]  # an answer's text, or fields of its Exchange
Send = Callable[[tuple[Ask, ...]], tuple[Exchange, ...]]  # what came of requests sent in the same moment


@dataclass(frozen=True)
class Played:
    """An iteration as it went."""

    result: Result
    asks: tuple[Ask, ...]
    exchanges: tuple[Exchange, ...]

    def outcomes(self) -> dict[str, bool | None]:
        """Check to its worst outcome: False over None, unknown, over True."""
        found: dict[str, bool | None] = {}
        for check in self.result.checked:
            found[check.name] = min((check.outcome, found.get(check.name, True)), key=_WORST_FIRST.index)
        return found

    def reason(self, check: str) -> str:
        """Grade and reason of a check's first outcome that is no pass; "" where all passed."""
        bad = (c for c in self.result.checked if c.name == check and c.outcome is not True)
        return next((": ".join(part for part in (c.grade, c.reason) if part) for c in bad), "")


_WORST_FIRST = (False, None, True)


def play(
    scenario: str | Scenario,
    answer: Callable[[Ask], Answer],
    *,
    around: Surroundings | None = None,
    number: int = 0,
    seed: int = 1,
    release: Release = Release(True, 0.03),  # noqa: B008 - frozen
) -> Played:
    """One iteration of a scenario, or of the one of this name with its defaults.

    ``answer`` makes up what comes of each request: its text, or the fields of an `Exchange` in which it
    is no plain success (``{"outcome": "fail", "failure": Failure.STALL}``). What it leaves out and a server
    may not tell, such as ``cached_tokens``, stays unknown. ``release`` answers each wait for a slot.
    """
    catalog = Catalog()
    made = catalog.scenario(scenario)() if isinstance(scenario, str) else scenario
    around = around or Surroundings(
        slots=2, slot_context=16384, chars_per_token=3.0, corpora=catalog.corpora(), cache_tokens=32_000
    )
    secrets, traffic = Secrets(), Traffic(around.chars_per_token)
    server = _Server(answer, around, secrets, traffic)
    context = IterationContext("test", number, seed, around, secrets, traffic)
    result = drive(Stepper(made, context), server.send, lambda wanted: release)
    return Played(result, tuple(server.asks), tuple(server.exchanges))


def drive(stepper: Stepper, send: Send, wait: Callable[[Released], Release]) -> Result:
    """Carry an iteration out: ``send`` stands for the server, ``wait`` for its slots."""
    started: dict[int, tuple[Ask, Exchange]] = {}

    def carry_out(wanted: Yield) -> Reply:
        match wanted:
            case Ask():
                return passed(wanted, *send((wanted,)))
            case Together(asks=asks):
                return tuple(passed(*pair) for pair in zip(asks, send(asks), strict=True))
            case Start(ask=ask):
                started[len(started)] = (ask, send((ask,))[0])
                return Started(len(started) - 1)
            case Finish(started=key):
                return passed(*started[key.key])
            case Released():
                return wait(wanted)

    wanted = stepper.begin()
    while wanted is not None:
        try:
            value = carry_out(wanted)
        except AskFailed as failed:
            wanted = stepper.fail(failed)
        else:
            wanted = stepper.reply(value)
    return stepper.result()


@dataclass
class _Server:
    """Hands out what ``answer`` makes up, a second a request."""

    answer: Callable[[Ask], Answer]
    around: Surroundings
    secrets: Secrets
    traffic: Traffic
    now: int = 0  # nanoseconds
    asks: list[Ask] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    def send(self, asks: tuple[Ask, ...]) -> tuple[Exchange, ...]:
        """What came of requests that were sent in the same moment."""
        made = tuple(self._exchange(ask) for ask in asks)
        self.now += NS
        for exchange in made:
            self.traffic.add(exchange)
        return made

    def _exchange(self, ask: Ask) -> Exchange:
        number, at = len(self.asks), self.now
        sent = opened(
            ask,
            id=f"test-{number}",
            node="test",
            scenario="test",
            iteration=0,
            seed=number,
            model="test",
            due_ns=at,
            sent_ns=at,
            secrets=self.secrets,
        )
        told = self.answer(ask)
        given = {"text": told} if isinstance(told, str) else dict(told)
        fields = structs.asdict(sent) | self._success(ask, str(given.get("text", ""))) | given
        exchange = Exchange(**fields)
        self.asks.append(ask)
        self.exchanges.append(exchange)
        return exchange

    def _success(self, ask: Ask, text: str) -> dict[str, Any]:
        """The fields of a request that went well; one that was to be cancelled was."""
        tokens = estimated_tokens(len(text), self.around.chars_per_token) + 1
        prompt = sum(len(message["content"]) for message in ask.chat())
        usage = {
            "finish_reason": "length" if ask.force else "stop",
            "prompt_tokens": estimated_tokens(prompt, self.around.chars_per_token),
            "completion_tokens": ask.tokens if ask.force else tokens,
        }
        return {
            "outcome": "ok",
            "status": 200,
            "first_token_ns": self.now + NS // 10,
            "last_token_ns": self.now + NS,
            "done_ns": self.now + NS,
            "token_events": tokens,
            **({"cancelled_ns": self.now + NS} if ask.cancel else usage),
        }
