"""Cancellation: kept slots, hurt neighbours, wrong next answers and ghosts; known limits are told as such."""

import dataclasses
from typing import Any

import pytest
from playing import AROUND, make, of, play

from soakproof.scenario import After, Ask, Release

CUT = make("cancellation")
SILENT = ("prefill", "queued", "unstreamed")
HELD = Release(False, 5.0, "still busy 5.0 s after the client left")
BLIND = Release(None, None, "the target shows no slots")


def roles(scenario: Any, **options: Any) -> list[str]:
    return [ask.role for ask in play(scenario, **options).asks]


def test_a_slot_that_is_kept() -> None:
    played = play(CUT, release=HELD)
    assert played.missed() == {"cancel.released": (False, "held")}
    assert "still busy" in played.reason("cancel.released")


def test_a_slot_that_cannot_be_seen_is_unknown() -> None:
    played = play(CUT, release=BLIND)
    assert played.missed() == {"cancel.released": (None, "")}
    assert "shows no slots" in played.reason("cancel.released")


def test_an_answer_that_ended_before_the_cut_proves_nothing() -> None:
    played = play(CUT, of("cancelled", cancelled_ns=None, finish_reason="length"))
    assert played.missed() == {"cancel.released": (None, "")}
    assert "ended by itself" in played.reason("cancel.released")


@pytest.mark.parametrize("phase", ["prefill", "queued"])
def test_a_cut_that_came_too_late_for_its_phase(phase: str) -> None:
    played = play(make("cancellation", phase=phase), of("cancelled", first_token_ns=5))
    assert played.missed() == {"cancel.released": (None, "")}
    assert "too late" in played.reason("cancel.released")


@pytest.mark.parametrize(
    "changes",
    [
        {"completion_tokens": 17},
        {"finish_reason": "stop"},
        {"outcome": "fail", "finish_reason": None, "completion_tokens": None, "reason": "connection reset"},
    ],
)
def test_a_neighbour_that_was_hurt(changes: dict[str, Any]) -> None:
    assert play(CUT, of("bystander-1", **changes)).missed() == {"cancel.bystander": (False, "")}


def test_how_a_neighbour_was_hurt_is_told() -> None:
    few = play(CUT, of("bystander-1", completion_tokens=17, finish_reason="stop"))
    assert few.reason("cancel.bystander") == "17 of 400 tokens, finish_reason 'stop'"
    none = play(CUT, of("bystander-1", outcome="fail", completion_tokens=None, reason="connection reset"))
    assert none.reason("cancel.bystander") == "its request failed: connection reset"


@pytest.mark.parametrize("changes", [{"completion_tokens": None}, {"outcome": "unknown", "reason": "killed"}])
def test_a_neighbour_that_cannot_be_judged(changes: dict[str, Any]) -> None:
    assert play(CUT, of("bystander-1", **changes)).missed() == {"cancel.bystander": (None, "")}


def test_a_wrong_answer_afterwards() -> None:
    played = play(CUT, of("after", text="lamp lamp lamp"))
    assert played.missed() == {"cancel.after": (False, "")}


def test_text_of_the_cancelled_request_in_the_next_answer() -> None:
    ghost = play(CUT).exchanges[1].text[-40:]
    played = play(CUT, of("after", text=lambda t: f"{t} {ghost}"))
    assert played.missed() == {"cancel.after": (False, ""), "cancel.ghost": (False, "")}
    hidden = play(CUT, of("after", reasoning=f"I said {ghost}"))
    assert hidden.missed() == {"cancel.ghost": (False, "")}


@pytest.mark.parametrize("role", ["after", "bystander-1"])
def test_the_nonce_of_the_cancelled_request_elsewhere(role: str) -> None:
    nonce = play(CUT).exchanges[1].secrets[0]
    missed = play(CUT, of(role, reasoning=f"Request {nonce}")).missed()
    assert missed == {"cancel.ghost": (False, "")}


@pytest.mark.parametrize("text", [" " * 400, "-" * 400, "1212" * 100])
def test_what_both_say_by_chance_is_no_ghost(text: str) -> None:
    """White space, rules and the like may well stand in both."""
    played = play(CUT, of("cancelled", text=text))
    assert played.missed() == {}
    echoed = play(
        CUT, lambda e: dataclasses.replace(e, text=f"{e.text}{' ' * 30}") if e.role != "cold" else e
    )
    assert "cancel.ghost" not in echoed.missed()


def test_the_order_while_decoding_and_while_nothing_is_sent() -> None:
    """A server that sends nothing notices late: its slot is watched after the bystander has ended."""
    assert roles(CUT) == ["bystander-1", "cancelled", "after"]
    late = play(make("cancellation", phase="prefill", within=7), of("bystander-1", done_ns=10 * 10**9))
    cut = late.exchanges[1]
    assert [w.within for w in late.waits] == [(10 * 10**9 - cut.done_ns) / 1e9 + 7]
    early = play(make("cancellation", within=7), of("bystander-1", done_ns=10 * 10**9))
    assert [w.within for w in early.waits] == [7]


@pytest.mark.parametrize(
    ("phase", "after"),
    [
        ("decode", After(tokens=20)),
        ("first_token", After(tokens=1, phase="first_token")),
        ("near_end", After(tokens=3996, phase="near_end")),
        ("prefill", After(seconds=0.5, phase="prefill")),
        ("queued", After(seconds=0.5, phase="queued")),
        ("unstreamed", After(seconds=0.5, phase="unstreamed")),
    ],
)
def test_when_each_phase_cuts(phase: str, after: After) -> None:
    cut = cut_of(phase)
    assert cut.cancel == after
    assert cut.stream == (phase != "unstreamed")
    assert cut.force
    assert (len(cut.chat()[0]["content"]) > 10_000) == (phase == "prefill")


def cut_of(phase: str) -> Ask:
    return next(ask for ask in play(make("cancellation", phase=phase)).asks if ask.role == "cancelled")


def test_queueing_takes_every_slot() -> None:
    four = dataclasses.replace(AROUND, slots=4)
    queued = make("cancellation", phase="queued")
    assert roles(queued, around=four) == [*(f"bystander-{n}" for n in range(1, 5)), "cancelled", "after"]


def test_one_slot_has_no_room_for_a_bystander() -> None:
    one = dataclasses.replace(AROUND, slots=1)
    played = play(CUT, around=one)
    assert [ask.role for ask in played.asks] == ["cancelled", "after"]
    assert played.missed() == {"cancel.bystander": (None, "")}
    assert roles(make("cancellation", phase="queued"), around=one) == ["bystander-1", "cancelled", "after"]


@pytest.mark.parametrize(
    ("phase", "front", "slots", "grade"),
    [
        ("unstreamed", "lemonade", 2, "known:unstreamed_never_cancelled"),
        ("unstreamed", "llamacpp", 2, "held"),
        ("unstreamed", "llamacpp", 4, "known:unnoticed_while_others_emit"),
        ("prefill", "lemonade", 2, "held"),
        ("prefill", "lemonade", 4, "known:unnoticed_while_others_emit"),
        ("queued", "llamacpp", 2, "held"),
        ("decode", "lemonade", 4, "held"),
        ("first_token", "lemonade", 4, "held"),
    ],
)
def test_known_limits_are_told_as_that(phase: str, front: str, slots: int, grade: str) -> None:
    around = dataclasses.replace(AROUND, front=front, slots=slots)
    played = play(make("cancellation", phase=phase), around=around, release=HELD)
    assert played.missed() == {"cancel.released": (False, grade)}
