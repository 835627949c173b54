"""Long prose: short, stalled, looping and leaking answers, each found by its own check."""

import random
import sys

import pytest
from playing import AROUND, make, of, play

from soakproof.context import Secrets
from soakproof.records import Failure

PROSE = make("long_prose")


@pytest.mark.parametrize("changes", [{"completion_tokens": 700}, {"finish_reason": "stop"}])
def test_a_length_that_was_not_reached(changes: dict[str, object]) -> None:
    played = play(PROSE, of("ask", **changes))
    assert played.missed() == {"prose.length": (False, "")}
    assert "768 tokens" in played.reason("prose.length")


def test_tokens_that_nobody_counted() -> None:
    assert play(PROSE, of("ask", completion_tokens=None)).missed() == {"prose.length": (None, "")}


def test_a_gap_between_two_tokens() -> None:
    played = play(PROSE, of("ask", widest_gap_ns=31 * 10**9))
    assert played.missed() == {"prose.stall": (False, "")}
    assert "31.00 s" in played.reason("prose.stall")
    assert play(PROSE, of("ask", widest_gap_ns=29 * 10**9)).missed() == {}
    assert play(PROSE, of("ask", widest_gap_ns=None)).missed() == {"prose.stall": (None, "")}


def test_a_stream_that_stalled_for_good() -> None:
    stalled = of("ask", outcome="fail", failure=Failure.STALL, reason="no token for 60 s", finish_reason=None)
    played = play(PROSE, stalled)
    assert played.result.end == "failed"
    assert played.missed().pop("prose.stall") == (False, "ended")
    assert {o for name, (o, _) in played.missed().items() if name != "prose.stall"} == {None}


def test_a_stream_that_failed_otherwise_did_not_stall() -> None:
    reset = of("ask", outcome="fail", failure=Failure.RESET, reason="connection reset")
    assert play(PROSE, reset).missed()["prose.stall"] == (None, "")


@pytest.mark.parametrize(
    "loop",
    [
        lambda t: "la " * 900,
        lambda t: t[:300] * 8,
        lambda t: t[: len(t) // 2] + "The lamp was lit at dawn. " * 60,  # healthy at first
        lambda t: "灯台は静かだった。" * 200,  # words that are not parted
        lambda t: "\n" * 2000,
    ],
)
def test_a_text_that_loops(loop: object) -> None:
    played = play(PROSE, of("ask", text=loop))
    assert played.missed() == {"prose.repetition": (False, "loop")}
    assert "was said before" in played.reason("prose.repetition")


def test_a_text_of_a_few_words() -> None:
    """No window of it comes back, and yet it says nothing."""
    salad = " ".join(random.Random(1).choices(["the", "the of", "of and", "and 7", "7 the", "of 7 7"], k=500))
    played = play(PROSE, of("ask", text=lambda t: t[: len(t) // 2] + salad))
    assert played.missed() == {"prose.repetition": (False, "few_words")}
    assert "of 200 words in a row only" in played.reason("prose.repetition")


def test_tokens_without_text() -> None:
    """All the tokens are counted, and next to nothing came of them."""
    assert play(PROSE, of("ask", text="A lamp.")).missed() == {"prose.length": (False, "blank")}
    assert play(PROSE, of("ask", text="A lamp.", reasoning="It was lit. " * 40)).missed() == {}


@pytest.mark.parametrize(
    ("made_ms", "came_s", "missed"),
    [
        (800, 0.8, {}),
        (800, 4.5, {}),  # a busy host
        (800, 10, {"prose.pace": (False, "slowed")}),
        (60_000, 63, {}),  # a slow server tells so itself: that is for the baseline
        (60_000, 200, {"prose.pace": (False, "slowed")}),
        (60_000, 0.1, {}),  # held back, then let go at once: told as a note
        (None, 1, {"prose.pace": (None, "")}),
        (float("inf"), 1, {"prose.pace": (None, "")}),
        ("fast", 1, {"prose.pace": (None, "")}),
    ],
)
def test_a_stream_that_is_held_back(made_ms: object, came_s: float, missed: dict[str, object]) -> None:
    """It came much slower than it was made, with no gap wide enough for a stall."""
    slow = of("ask", timings={"predicted_ms": made_ms}, first_token_ns=0, last_token_ns=int(came_s * 10**9))
    assert play(PROSE, slow).missed() == missed


def test_a_stream_of_which_no_times_are_known() -> None:
    assert play(PROSE, of("ask", timings=None)).missed() == {"prose.pace": (None, "")}
    assert play(PROSE, of("ask", first_token_ns=None)).missed() == {"prose.pace": (None, "")}


def test_another_requests_code_in_the_prose() -> None:
    secrets = Secrets()
    code = play(make("cache_pair"), secrets=secrets).exchanges[0].text
    played = play(PROSE, of("ask", text=lambda t: f"{t} {code}"), secrets=secrets, number=1)
    assert played.missed() == {"prose.foreign": (False, "")}


def test_it_asks_for_a_forced_length_at_a_temperature() -> None:
    (ask,) = play(PROSE).asks
    assert (ask.tokens, ask.force, ask.temperature) == (768, True, 0.8)
    size = len(ask.chat()[0]["content"]) / AROUND.chars_per_token
    assert 5900 < size < 6200
    assert play(PROSE).result.counts == {"prose.tokens": 768}


def test_the_measure_of_repetition() -> None:
    measure = vars(sys.modules[type(PROSE).__module__])["repetition"]
    assert measure("") == 0
    assert measure("short") == 0
    assert measure("ab" * 500) > 0.95
    assert measure(play(PROSE).exchanges[0].text) < 0.01


def test_the_measure_of_variety() -> None:
    measure = vars(sys.modules[type(PROSE).__module__])["variety"]
    assert measure("a b " * 99) == 1  # too short to tell
    assert measure("a b " * 100) == 0.01
    assert measure("灯台は静かだった。" * 200) == 1  # words that are not parted
    assert measure(" ".join(map(str, range(500)))) == 1
