"""Every bundled kind against a server that does all things right: nothing but passes, at any size."""

import dataclasses
from typing import Any

import pytest
from msgspec import structs
from playing import AROUND, make, play, right_answer

from soakproof.context import IterationContext, Secrets
from soakproof.iteration import Stepper

KINDS = (
    "structured_json",
    "isolation",
    "cache_pair",
    "cancellation",
    "long_prose",
    "refusals",
    "near_context",
    "shared_prefix",
    "returning",
)
HUGE: dict[str, dict[str, Any]] = {
    "cache_pair": {"prompt": 10**6},
    "cancellation": {"phase": "prefill", "prompt": 10**6, "tokens": 10**6, "bystander": 10**6},
    "long_prose": {"prompt": 10**6, "answer": 10**6},
    "near_context": {"prompt": 10**6},
    "shared_prefix": {"prompt": 10**6},
    "returning": {"prompt": 10**6, "other": 10**6},
}
PHASES = ("decode", "first_token", "near_end", "prefill", "queued", "unstreamed")


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("number", range(12))
def test_all_checks_pass(name: str, number: int) -> None:
    scenario = make(name)
    played = play(scenario, number=number)
    assert played.result.end == "completed", played.result.reason
    assert played.missed() == {}
    assert set(played.outcomes()) == set(scenario.checks)


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_of_cancelling(phase: str) -> None:
    assert play(make("cancellation", phase=phase)).missed() == {}


@pytest.mark.parametrize("name", KINDS)
def test_the_same_seed_asks_the_same(name: str) -> None:
    def prompts(number: int, seed: int) -> list[object]:
        played = play(make(name), number=number, seed=seed)
        return [(ask.messages, ask.response_format) for ask in played.asks]

    assert prompts(3, 1) == prompts(3, 1)
    assert prompts(3, 1) != prompts(4, 1)
    assert prompts(3, 1) != prompts(3, 2)


@pytest.mark.parametrize("name", KINDS)
def test_no_two_requests_share_a_secret_that_they_did_not_have_to(name: str) -> None:
    """Every request of a run that is told apart has something in it that is no other's."""
    secrets = Secrets()
    first = play(make(name), number=1, secrets=secrets)
    second = play(make(name), number=2, secrets=secrets)
    mine = {s for e in first.exchanges for s in e.secrets}
    yours = {s for e in second.exchanges for s in e.secrets}
    assert mine
    assert yours
    assert not mine & yours


@pytest.mark.parametrize("context", [2048, 4096, 16384])
@pytest.mark.parametrize("name", KINDS)
def test_sizes_stay_within_a_slot(name: str, context: int) -> None:
    around = dataclasses.replace(AROUND, slot_context=context)
    played = play(make(name, **HUGE.get(name, {})), around=around)
    for ask in (ask for ask in played.asks if not ask.refused):
        prompt = sum(len(text) for text in (m["content"] for m in ask.chat())) / around.chars_per_token
        assert prompt + ask.tokens < context, (ask.role, prompt, ask.tokens)
    assert played.missed() == {}


def test_prompts_hold_what_answers_need() -> None:
    """The test's own server has nothing but the prompt, so neither has a model more."""
    played = play(make("structured_json"))
    assert [e.text for e in played.exchanges] == [right_answer(a) for a in played.asks]


@pytest.mark.parametrize("name", KINDS)
def test_a_failed_request_leaves_the_rest_unknown(name: str) -> None:
    played = play(make(name), lambda e: structs.replace(e, outcome="fail", reason="connection refused"))
    assert played.result.end == "failed"
    assert "connection refused" in played.result.reason
    assert {outcome for outcomes in played.outcomes().values() for outcome, _ in outcomes} == {None}


@pytest.mark.parametrize("name", KINDS)
def test_a_stop_is_let_pass(name: str) -> None:
    scenario = make(name)
    stepper = Stepper(scenario, IterationContext("kind", 0, 1, AROUND, Secrets()))
    assert stepper.begin() is not None
    stepper.stop("the run ends")
    result = stepper.result()
    assert result.end == "stopped"
    assert {c.grade for c in result.checked} == {"unreached"}
