"""Long prose: short, stalled, looping and leaking answers, each found by its own check."""

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
    assert played.missed() == {"prose.repetition": (False, "")}
    assert "was said before" in played.reason("prose.repetition")


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
