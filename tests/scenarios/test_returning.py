"""A conversation that comes back: foreign memory, lost memory and told secrets are each found, and when."""

import dataclasses

import pytest
from playing import AROUND, Played, make, of, play

RETURNING = make("returning", flood=2000)
PHASES = ("first", "again", "late")


def others_code(played: Played) -> str:
    return next(e.text for e in played.exchanges if e.role == "other")


def test_it_waits_for_as_many_others_as_push_it_out() -> None:
    """As many as there are slots, then so many that their tokens are the flood."""
    played = play(make("returning"), around=dataclasses.replace(AROUND, slots=3))
    roles = [ask.role for ask in played.asks]
    again, late = roles.index("again"), roles.index("late")
    assert roles[1:again] == ["other"] * 3
    assert set(roles[again + 1 : late]) == {"other"}
    between = played.exchanges[again + 1 : late]
    assert sum(e.prompt_tokens or 0 for e in between) >= 8000


def test_it_comes_back_with_the_whole_conversation() -> None:
    played = play(RETURNING)
    late = played.asks[-1].chat()
    said = {e.role: e.text for e in played.exchanges}
    assert [m["role"] for m in late] == ["system", *["user", "assistant"] * 2, "user"]
    assert [m["content"] for m in late if m["role"] == "assistant"] == [said["first"], said["again"]]
    assert len({said[phase] for phase in PHASES}) == 3  # another record each time
    assert len({ask.chat()[0]["content"] for ask in played.asks if ask.role == "other"}) > 3


@pytest.mark.parametrize("phase", PHASES)
def test_an_answer_from_anothers_memory(phase: str) -> None:
    code = others_code(play(RETURNING))
    played = play(RETURNING, of(phase, text=code))
    missed = played.missed()
    grade = "wrong" if phase == "first" else "foreign"  # by then nobody had been told it
    assert missed.pop(f"returning.{phase}") == (False, grade)
    assert missed.pop("returning.foreign") == (False, "")
    assert missed == {}
    assert code in played.reason("returning.foreign")


@pytest.mark.parametrize("phase", PHASES)
def test_a_memory_that_is_lost(phase: str) -> None:
    played = play(RETURNING, of(phase, text="I do not know."))
    assert played.missed() == {f"returning.{phase}": (False, "wrong")}


@pytest.mark.parametrize("where", ["text", "reasoning"])
def test_its_system_secret_is_told_to_another(where: str) -> None:
    """Who asks next is told the identity of who was there before."""
    system = play(RETURNING).asks[0].chat()[0]["content"]
    secret = next(s for s in play(RETURNING).exchanges[0].secrets if s in system)
    played = play(RETURNING, of("other", **{where: lambda said: f"{said} {secret}".strip()}))
    missed = played.missed()
    assert missed.pop("returning.foreign") == (False, "")
    assert (missed.pop("returning.others", None) == (False, "foreign")) == (where == "text")
    assert missed == {}
    assert secret in played.reason("returning.foreign")


def test_what_was_pushed_out_is_counted() -> None:
    def counted(cached: int | None) -> float:
        return play(RETURNING, of("late", cached_tokens=cached)).result.counts["returning.pushed_out_late"]

    assert [counted(1200), counted(18), counted(None)] == [0, 1, 0]
