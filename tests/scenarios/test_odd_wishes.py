"""What no driver could carry out is refused in the scenario's own line, and breaks that iteration alone."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playing import AROUND, make, play

from soakproof.context import IterationContext, Secrets
from soakproof.iteration import Result, Stepper
from soakproof.request import Requests
from soakproof.scenario import (
    After,
    Ask,
    Exchange,
    Finish,
    Released,
    Scenario,
    Script,
    Start,
    Started,
    Together,
)
from soakproof.scenario import (
    IterationContext as It,
)

EXCHANGE: Exchange = play(make("isolation")).exchanges[0]
ODD: dict[str, Callable[[], Any]] = {
    "no text": lambda: Ask(None),  # type: ignore[arg-type]
    "bytes": lambda: Ask(b"x"),  # type: ignore[arg-type]
    "no messages": lambda: Ask(()),
    "half a pair": lambda: Ask((("user",),)),  # type: ignore[arg-type]
    "a number in a pair": lambda: Ask((("user", 5),)),  # type: ignore[arg-type]
    "no role": lambda: Ask("x", role=None),  # type: ignore[arg-type]
    "no tokens": lambda: Ask("x", tokens=0),
    "tokens of another kind": lambda: Ask("x", tokens=1.5),  # type: ignore[arg-type]
    "too many tokens": lambda: Ask("x", tokens=10**30),
    "no temperature": lambda: Ask("x", temperature=math.nan),
    "a format that is no JSON": lambda: Ask("x", response_format={"a": object()}),
    "a model without a name": lambda: Ask("x", model=5),  # type: ignore[arg-type]
    "a model of half a character": lambda: Ask("x", model="a\ud83c"),
    "fields that are no JSON": lambda: Ask("x", more={"a": object()}),
    "a field that is ours": lambda: Ask("x", more={"seed": 5}),
    "a cancel that is none": lambda: Ask("x", cancel=5),  # type: ignore[arg-type]
    "a cancel before it began": lambda: After(seconds=-1),
    "a cancel at no number": lambda: After(tokens="5"),  # type: ignore[arg-type]
    "together with a text": lambda: Together(Ask("x"), "y"),  # type: ignore[arg-type]
    "start nothing": lambda: Start("x"),  # type: ignore[arg-type]
    "finish nothing": lambda: Finish(5),  # type: ignore[arg-type]
    "release nothing": lambda: Released("x", 5),  # type: ignore[arg-type]
    "release never": lambda: Released(EXCHANGE, math.inf),
    "finish what was not started": lambda: Finish(Started(99)),
}


@dataclass(frozen=True)
class One(Scenario):
    """Wishes what it was given."""

    wish: Callable[[], Any] = lambda: None

    def iterate(self, it: It) -> Script:
        yield self.wish()


def result_of(scenario: Scenario, *replies: Any) -> Result:
    step = Stepper(scenario, IterationContext("kind", 0, 1, AROUND, Secrets()))
    step.begin()
    for reply in replies:
        step.reply(reply)
    return step.result()


@pytest.mark.parametrize("name", ODD)
def test_an_odd_wish_breaks_its_iteration(name: str) -> None:
    result = result_of(One(ODD[name]))
    assert result.end == "broken"
    assert "expected" in result.reason or "JSON" in result.reason or "did not start" in result.reason
    assert len(result.reason) < 300


@dataclass(frozen=True)
class Twice(Scenario):
    """Finishes one request twice."""

    def iterate(self, it: It) -> Script:
        started = yield Start(Ask("x"))
        yield Finish(started)
        yield Finish(started)


def test_a_request_is_finished_once() -> None:
    result = result_of(Twice(), Started(1), EXCHANGE)
    assert (result.end, result.reason) == (
        "broken",
        "finishes a request that it did not start, or finishes it twice (test_odd_wishes.py:93)",
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda it: it.check(5, True),
        lambda it: it.check("a", True, grade=5),
        lambda it: it.check("a", True, reason=None),
        lambda it: it.check("a", 1),
        lambda it: it.check("a", True, "load-1"),
        lambda it: it.count(5),
        lambda it: it.count("n", "5"),
        lambda it: it.count("n", math.inf),
    ],
)
def test_an_odd_check_or_count_is_refused(spoil: Callable[[Any], None]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        spoil(IterationContext("kind", 0, 1, AROUND, Secrets()))


def test_another_model_and_odd_fields_go_over_the_wire() -> None:
    requests = Requests(node="load", model="m", around=AROUND, seed=1, first_seed=7)
    prepared = requests.prepare(Ask("x", model="other", more={"messages": 5}, refused=True), "kind", 0, 0)
    body = json.loads(prepared.body)
    assert (body["model"], body["messages"], body["seed"]) == ("other", 5, 7)
    assert (prepared.record.model_asked, prepared.record.refusal_planned) == ("other", True)
    plain = requests.prepare(Ask("x"), "kind", 0, 0).record
    assert (plain.model_asked, plain.refusal_planned) == ("m", False)


def test_half_a_character_of_an_answer_can_be_sent_back() -> None:
    """A server may answer with a lone surrogate, and a scenario may quote it in its next request."""
    requests = Requests(node="load", model="m", around=AROUND, seed=1, first_seed=1)
    ask = Ask((("user", "hello"), ("assistant", "a\ud83cb"), ("user", "go on")))
    prepared = requests.prepare(ask, "kind", 0, 0)
    assert b"a?b" in prepared.body
    assert prepared.record.prompt_digest
