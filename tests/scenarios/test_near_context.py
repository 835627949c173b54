"""Long prompts: the check names the depth that is lost, its grade the length from which on it is."""

import dataclasses
import re

import pytest
from msgspec import structs
from playing import AROUND, Change, make, of, play

from soakproof.context import Secrets
from soakproof.records import Exchange, Failure

NEAR = make("near_context", prompt=8000)
TOLD = dataclasses.replace(AROUND, ubatch=256, batch=1024)
DEPTHS = ("start", "middle", "end")


def beyond(tokens: int, depths: tuple[str, ...] = DEPTHS) -> Change:
    """A server that answers nonsense about these depths of every prompt longer than that."""

    def change(exchange: Exchange) -> Exchange:
        asked = exchange.role.rpartition("-")[2]
        if (exchange.prompt_tokens or 0) <= tokens or asked not in depths:
            return exchange
        return structs.replace(exchange, text="the the of of and 7 7 7 7")

    return change


def test_lengths_lie_around_both_batches_and_near_the_full_context() -> None:
    for around, ubatch, batch in ((AROUND, 512, 2048), (TOLD, 256, 1024)):
        sizes = [
            e.prompt_tokens or 0 for n in range(8) for e in play(NEAR, number=n, around=around).exchanges
        ]
        for edge in (ubatch, batch):
            assert any(edge - 60 < size <= edge for size in sizes)
            assert any(edge < size < edge + 60 for size in sizes)
            assert len({size for size in sizes if abs(size - edge) < 60}) > 20  # not always the same
        assert 7900 < max(sizes) < 8100


def test_the_longest_fills_the_share_of_a_small_slot() -> None:
    small = dataclasses.replace(AROUND, slot_context=3000)
    full = play(make("near_context"), around=small).exchanges[-1]
    assert full.role == "full-end"
    assert 0.82 * 3000 < (full.prompt_tokens or 0) <= 0.9 * 3000


def test_needles_lie_at_the_very_start_middle_and_end() -> None:
    for ask in play(NEAR).asks[-3:]:
        text = ask.chat()[0]["content"]
        record = text.rpartition("record ")[2][:4]
        depth = text.index(f"Record {record}:") / len(text)
        assert abs(depth - {"full-start": 0.01, "full-middle": 0.5, "full-end": 0.98}[ask.role]) < 0.03


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_depth_that_is_lost(depth: str) -> None:
    """The oldest part alone, for one: a question about the end would never show it."""
    played = play(NEAR, beyond(512, (depth,)), around=AROUND)
    assert played.missed() == {f"context.{depth}": (False, "beyond_ubatch")}
    assert "n_ubatch 512, n_batch 2048, taken from llama.cpp's defaults" in played.reason(f"context.{depth}")


@pytest.mark.parametrize(
    ("tokens", "grades"),
    [
        (0, {"within_ubatch", "beyond_ubatch", "beyond_batch"}),
        (256, {"beyond_ubatch", "beyond_batch"}),
        (1024, {"beyond_batch"}),
    ],
)
def test_the_grade_tells_from_which_length_on(tokens: int, grades: set[str]) -> None:
    outcomes = play(NEAR, beyond(tokens), around=TOLD).outcomes()["context.start"]
    assert {grade for outcome, grade in outcomes if outcome is False} == grades


def test_another_record_is_told_in_words() -> None:
    other = play(NEAR).exchanges[1].text
    played = play(NEAR, of("edge-start", text=other))
    assert "other_record: expected" in played.reason("context.start")


def test_another_requests_code_is_foreign() -> None:
    secrets = Secrets()
    code = play(make("cache_pair"), secrets=secrets).exchanges[0].text
    played = play(NEAR, of("full-end", text=code), secrets=secrets, number=1)
    assert played.missed() == {"context.end": (False, "foreign")}


def test_a_hang_at_one_length_tells_that_length() -> None:
    """Its own usage never comes: the length is estimated from those before it."""
    hang = of("full-start", outcome="fail", failure=Failure.FIRST_TOKEN_TIMEOUT, reason="no token in 60 s")
    played = play(NEAR, lambda e: structs.replace(hang(e), prompt_tokens=2 * (e.prompt_tokens or 0)))
    assert played.result.end == "failed"
    assert played.missed() == {"context.start": (None, "")}
    told = re.search(
        r"no answer to a prompt of about (\d+) tokens: first_token", played.reason("context.start")
    )
    assert told is not None
    assert 7800 < int(told[1]) < 8100


def test_a_server_that_counts_no_tokens_is_asked_for_less() -> None:
    """How many tokens the text makes is then only estimated, and must not be over the context."""

    def change(exchange: Exchange) -> Exchange:
        text = "nonsense" if exchange.role == "full-start" else exchange.text
        return structs.replace(exchange, prompt_tokens=None, text=text)

    small = dataclasses.replace(AROUND, slot_context=3000)
    played = play(make("near_context"), change, around=small)
    assert played.missed() == {"context.start": (False, "unknown_length")}
    assert len(played.asks[-1].chat()[0]["content"]) / AROUND.chars_per_token < 0.7 * 3000


def test_a_register_that_the_server_holds_is_dealt_anew() -> None:
    assert play(NEAR).result.counts == {"context.deals": 5}
    held = play(NEAR, of("full-start", cached_tokens=4000))
    assert held.result.counts == {"context.deals": 12}
    assert held.missed() == {}
