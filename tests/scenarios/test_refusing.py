"""Refusals: each way to refuse wrongly has a grade; what fronts are known to do counts as no failure."""

import dataclasses
from typing import Any

import pytest
from playing import AROUND, make, of, play

from soakproof.quantities import check_outcome
from soakproof.records import Failure

REFUSALS = make("refusals")
LEMONADE = dataclasses.replace(AROUND, front="lemonade")
LLAMACPP = dataclasses.replace(AROUND, front="llamacpp")
ANSWERED: dict[str, Any] = {"failure": None, "status": 200, "reason": "", "text": "ok", "prompt_tokens": 40}
ROLES = ("model", "context", "malformed")


@pytest.mark.parametrize("number", range(16))
def test_lemonades_way_is_right(number: int) -> None:
    """Streams begin with 200, but for a model that is not there; both ways of asking come up."""
    played = play(REFUSALS, number=number, around=LEMONADE)
    assert played.missed() == {}
    assert played.result.end == "completed"


def test_every_way_of_asking_comes_up() -> None:
    asks = [ask for n in range(60) for ask in play(REFUSALS, number=n).asks]
    streamed = {(ask.role, ask.stream) for ask in asks if ask.refused}
    assert streamed == {(role, stream) for role in ROLES for stream in (True, False)}
    assert {name for ask in asks if ask.more for name in ask.more} == {
        "messages",
        "max_tokens",
        "temperature",
    }
    assert len({ask.model for ask in asks if ask.model}) == 60


def test_llamacpp_alone_answers_for_any_model() -> None:
    played = play(REFUSALS, around=LLAMACPP)
    assert played.missed() == {"refusal.model": (False, "known:any_model_answered")}
    (check,) = [c for c in played.result.checked if c.name == "refusal.model"]
    assert check_outcome(check.record(node="n", t_ns=0, scenario="k", iteration=0)) == "known"


@pytest.mark.parametrize("role", ROLES)
def test_what_is_answered_all_the_same(role: str) -> None:
    """Of some fields llama.cpp's older releases took their default."""
    grades = {
        play(REFUSALS, of(role, **ANSWERED), number=n, around=LEMONADE).missed()[f"refusal.{role}"]
        for n in range(24)
    }
    known = {(False, "known:wrong_type_ignored")} if role == "malformed" else set()
    assert grades == {(False, "answered"), *known}


def test_a_prompt_that_was_cut_to_fit_tells_its_size() -> None:
    played = play(REFUSALS, of("context", **ANSWERED | {"prompt_tokens": 16000}))
    assert "answered after 16000 prompt tokens" in played.reason("refusal.context")


@pytest.mark.parametrize("role", ROLES)
def test_a_refusal_as_the_servers_own_fault(role: str) -> None:
    for failure, status in ((Failure.HTTP_STATUS, 500), (Failure.ERROR_EVENT, 200)):
        spoilt = of(role, failure=failure, status=status, reason="std::exception")
        played = play(REFUSALS, spoilt, around=LEMONADE)
        assert played.missed() == {f"refusal.{role}": (False, "own_fault")}
        assert "std::exception" in played.reason(f"refusal.{role}")


@pytest.mark.parametrize("role", ROLES)
def test_a_refusal_for_another_reason(role: str) -> None:
    other = Failure.CONFIGURATION if role == "context" else Failure.CONTEXT
    played = play(REFUSALS, of(role, failure=other), around=LEMONADE)
    assert played.missed() == {f"refusal.{role}": (False, "other_reason")}


def test_a_refusal_with_another_status() -> None:
    """A stream that begins with 200 hides its refusal from who looks at the status alone."""
    event = {"status": 200}
    for around, roles in ((LEMONADE, ["model"]), (LLAMACPP, ["context", "malformed"])):
        for role in roles:
            missed = play(REFUSALS, of(role, **event), around=around).missed()
            assert missed[f"refusal.{role}"] == (False, "other_status")
    assert play(REFUSALS, of("model", status=400), around=LEMONADE).missed() == {
        "refusal.model": (False, "other_status")
    }


def test_a_wrong_answer_after_the_refusals() -> None:
    played = play(REFUSALS, of("after", text=lambda t: t[:-1]))
    assert played.missed() == {"refusal.after": (False, "")}
    assert "expected" in played.reason("refusal.after")


@pytest.mark.parametrize("role", ROLES)
def test_a_server_that_died_of_it_is_a_failed_request(role: str) -> None:
    lost = of(role, outcome="fail", failure=Failure.BACKEND_LOST, reason="the backend exited")
    played = play(REFUSALS, lost)
    assert played.result.end == "failed"
    assert {o for o, _ in played.missed().values()} == {None}
    assert "refusal.after" in played.missed()


@pytest.mark.parametrize("context", [2048, 262_144])
def test_the_prompt_over_the_context_is_over_it(context: int) -> None:
    around = dataclasses.replace(LEMONADE, slot_context=context)
    (ask,) = [ask for ask in play(REFUSALS, around=around).asks if ask.role == "context"]
    size = len(ask.chat()[0]["content"]) / around.chars_per_token
    assert 1.4 * context < size < 2.1 * context
