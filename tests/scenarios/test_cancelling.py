"""Cancellation: kept slots, hurt neighbours, wrong next answers and ghosts; known limits are told as such."""

import dataclasses
from typing import Any

import pytest
from msgspec import structs
from playing import AROUND, make, of, play

from soakproof.records import Exchange
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
    echoed = play(CUT, lambda e: structs.replace(e, text=f"{e.text}{' ' * 30}") if e.role != "cold" else e)
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
        ("near_end", After(tokens=3932, phase="near_end")),
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
        ("unstreamed", "llamacpp", 4, "held"),
        ("prefill", "lemonade", 2, "held"),
        ("prefill", "lemonade", 4, "held"),
        ("queued", "llamacpp", 2, "held"),
        ("decode", "lemonade", 4, "held"),
        ("first_token", "lemonade", 4, "held"),
    ],
)
def test_known_limits_are_told_as_that(phase: str, front: str, slots: int, grade: str) -> None:
    around = dataclasses.replace(AROUND, front=front, slots=slots)
    played = play(make("cancellation", phase=phase), around=around, release=HELD)
    assert played.missed() == {"cancel.released": (False, grade)}


FOUR = dataclasses.replace(AROUND, slots=4)
OTHERS = "known:unnoticed_while_others_emit"


@pytest.mark.parametrize("phase", SILENT)
@pytest.mark.parametrize(
    ("later", "grade"),
    [
        (Release(True, 9.0), OTHERS),
        (HELD, "held"),
        (BLIND, "held"),
        (Release(True, 9.0, decoded=5000), "held"),
    ],
    ids=["ended soon", "held on", "not seen any more", "ended by itself"],
)
def test_others_excuse_only_a_hold_that_ends_soon(phase: str, later: Release, grade: str) -> None:
    """With more slots than the scenario uses, other users' streams may have kept the server from noticing."""
    played = play(make("cancellation", phase=phase, within=60), around=FOUR, release=HELD, later=later)
    assert played.missed() == {"cancel.released": (False, grade)}
    first, second = (wait.within for wait in played.waits)
    assert second - first == pytest.approx(120)


@pytest.mark.parametrize("phase", ["decode", "first_token"])
def test_others_excuse_nothing_while_the_client_is_sent_tokens(phase: str) -> None:
    played = play(make("cancellation", phase=phase), around=FOUR, release=HELD, later=Release(True, 9.0))
    assert played.missed() == {"cancel.released": (False, "held")}
    assert len(played.waits) == 1


@pytest.mark.parametrize(
    ("phase", "front", "grade"),
    [
        ("unstreamed", "lemonade", "known:unstreamed_never_cancelled"),
        ("unstreamed", "llamacpp", "held"),
        ("prefill", "lemonade", "held"),
        ("queued", "llamacpp", "held"),
        ("decode", "lemonade", "held"),
    ],
)
def test_a_slot_that_is_free_in_time_by_its_own_end(phase: str, front: str, grade: str) -> None:
    around = dataclasses.replace(AROUND, front=front)
    played = play(
        make("cancellation", phase=phase, within=60), around=around, release=Release(True, 3.0, decoded=3300)
    )
    assert played.missed() == {"cancel.released": (False, grade)}
    assert "it decoded 3300 tokens" in played.reason("cancel.released")


def test_a_front_that_looks_for_its_clients_every_second_or_two_is_no_fault() -> None:
    """A fast model decodes a quarter of the answer in that time, and none decodes most of it."""
    kind = make("cancellation")
    assert play(kind, release=Release(True, 1.4, decoded=1410)).missed() == {}
    for release in (Release(True, 2.6, decoded=1410), Release(True, 1.4, decoded=4000)):
        assert play(kind, release=release).missed() == {"cancel.released": (False, "held")}


@pytest.mark.parametrize("phase", ["decode", "prefill", "queued", "unstreamed"])
def test_a_few_tokens_until_the_server_notices_are_no_fault(phase: str) -> None:
    assert play(make("cancellation", phase=phase), release=Release(True, 1.0, decoded=500)).missed() == {}


def pace(rate: float) -> Any:
    """The first answer's clock: so many tokens a second."""
    return of("pace", first_token_ns=0, done_ns=int(64 / rate * 1e9))


@pytest.mark.parametrize(("rate", "tokens"), [(10, 512), (200, 4000), (1500, 12288)])
def test_an_unstreamed_answer_outlasts_the_bound(rate: float, tokens: int) -> None:
    """Twice the bound, as far as the slot has room."""
    played = play(make("cancellation", phase="unstreamed", within=10), pace(rate))
    assert [ask.role for ask in played.asks] == ["pace", "bystander-1", "cancelled", "after"]
    assert played.asks[2].tokens == tokens
    assert played.missed() == {}


@pytest.mark.parametrize("changes", [{"completion_tokens": None}, {"first_token_ns": None}])
def test_a_server_whose_pace_is_unknown(changes: dict[str, Any]) -> None:
    played = play(make("cancellation", phase="unstreamed", tokens=3000), of("pace", **changes))
    assert played.asks[2].tokens == 3000
    assert played.missed() == {}


def test_an_unstreamed_answer_that_may_have_ended_by_itself() -> None:
    """It could not be made to outlast the bound: 12,288 tokens take 1.2 s."""
    played = play(make("cancellation", phase="unstreamed"), pace(10_000), release=Release(True, 2.0))
    assert played.missed() == {"cancel.released": (None, "")}
    assert "by itself" in played.reason("cancel.released")


def test_an_answer_that_was_quicker_than_the_cut_near_its_end_is_cut_earlier() -> None:
    def quick(exchange: Exchange) -> Exchange:
        return structs.replace(exchange, cancelled_ns=None) if exchange.id == "x1" else exchange

    played = play(make("cancellation", phase="near_end", tokens=256), quick)
    cuts = [ask.cancel.tokens for ask in played.asks if ask.cancel is not None]
    assert cuts == [204, 128]
    assert played.missed() == {}
    never = play(make("cancellation", phase="near_end", tokens=256), of("cancelled", cancelled_ns=None))
    assert never.missed() == {"cancel.released": (None, "")}
    assert len(never.asks) == 4


@pytest.mark.parametrize(("tokens", "events"), [(10, 1), (64, 48), (256, 204)])
def test_near_its_end_is_well_before_it(tokens: int, events: int) -> None:
    played = play(make("cancellation", phase="near_end", tokens=tokens))
    assert [ask.cancel.tokens for ask in played.asks if ask.cancel is not None] == [events]
