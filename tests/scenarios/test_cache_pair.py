"""The cache pair: wrong answers, lost hits and slow ones, each told apart; eviction is none of them."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs
from playing import AROUND, Change, make, of, play

from soakproof.context import Surroundings, Traffic
from soakproof.records import Exchange
from soakproof.scenario import Ask

PAIR = make("cache_pair", in_system=0)
SYSTEM = make("cache_pair", in_system=1)


def hits() -> Change:
    """All three questions that should find the prefix find nothing."""

    def change(exchange: Exchange) -> Exchange:
        if exchange.role in {"repeat", "changed", "back"}:
            return structs.replace(exchange, cached_tokens=0, timings={"prompt_ms": 600.0})
        return exchange

    return change


def test_what_is_asked() -> None:
    played = play(PAIR)
    cold, repeat, other, changed, back = [a.chat()[0]["content"] for a in played.asks]
    assert cold == repeat == back != changed
    assert cold[:600] == changed[:600]
    assert cold[:20] != other[:20]
    heads = [re.match(r"Register ([A-Z2-9]{8})\. ", text) for text in (cold, other)]
    assert all(heads)
    assert len({h[1] for h in heads if h}) == 2


def test_a_register_that_is_the_system_prompt() -> None:
    """Whoever drops or cuts the system prompt leaves the question without its answer."""
    played = play(SYSTEM)
    cold, *rest = [[m["role"] for m in ask.chat()] for ask in played.asks]
    assert [cold, *rest] == [["system", "user"]] * 5
    assert ["Record 0" in m["content"] for m in played.asks[0].chat()] == [True, False]
    assert played.missed() == {}
    assert play(SYSTEM, of("cold", text="AAAA-2222")).missed() == {"cache.exact": (False, "wrong_of_system")}


def test_both_places_are_used() -> None:
    places = {len(play(make("cache_pair"), number=n).asks[0].chat()) for n in range(20)}
    assert places == {1, 2}


def test_questions_come_from_both_halves_of_the_register() -> None:
    """Only the oldest context, or only what lies past a batch, can be lost: ask at both ends."""
    for number in range(20):
        cold, _, _, changed, _ = [a.chat()[0]["content"] for a in play(PAIR, number=number).asks]
        lines = re.findall(r"^Record (\d{4}):", cold, re.MULTILINE)
        asked = [re.findall(r"record (\d{4})", text)[-1] for text in (cold, changed)]
        assert sorted(lines.index(record) >= len(lines) // 2 for record in asked) == [False, True]


@pytest.mark.parametrize("role", ["cold", "repeat", "other", "changed", "back"])
def test_a_wrong_answer(role: str) -> None:
    played = play(PAIR, of(role, text="AAAA-2222"))
    assert played.missed() == {"cache.exact": (False, "wrong")}


def test_a_right_answer_is_told_with_the_record_that_it_is_of() -> None:
    """In a long register, shown in part or not at all, nobody would find it."""
    played = play(PAIR)
    exact = [c.reason for c in played.result.checked if c.name == "cache.exact"]
    asked = [re.findall(r"record (\d{4})", ask.chat()[0]["content"])[-1] for ask in played.asks]
    answers = [exchange.text for exchange in played.exchanges]
    assert exact == [f"{code}, as record {n} has it" for code, n in zip(answers, asked, strict=True)]


def test_a_code_of_another_record_or_of_another_register() -> None:
    played = play(PAIR)
    changed, other = played.exchanges[3].text, played.exchanges[2].text
    assert play(PAIR, of("repeat", text=changed)).missed() == {"cache.exact": (False, "other_record")}
    assert play(PAIR, of("changed", text=other)).missed() == {"cache.exact": (False, "foreign")}


@pytest.mark.parametrize(
    ("role", "check"),
    [("repeat", "cache.restored"), ("changed", "cache.after_other"), ("back", "cache.after_other")],
)
def test_a_lost_hit(role: str, check: str) -> None:
    missed = play(PAIR, of(role, cached_tokens=0)).missed()
    assert missed == {check: (False, "missed")}
    half = play(PAIR, of(role, cached_tokens=lambda tokens: tokens // 2)).missed()
    assert half == {check: (False, "partial")}


def test_no_reuse_at_all_leaves_speed_unknown() -> None:
    """A hybrid model, say: a perfect match in the server's log and nothing restored."""
    missed = play(PAIR, hits()).missed()
    assert missed == {
        "cache.restored": (False, "missed"),
        "cache.after_other": (False, "missed"),
        "cache.faster": (None, ""),
    }


def test_all_but_the_question_is_enough() -> None:
    """llama.cpp restores all but a token of a repeat, and all but about seven of a changed question."""
    assert play(PAIR, of("repeat", cached_tokens=lambda n: n - 8)).missed() == {}
    assert play(PAIR, of("repeat", cached_tokens=lambda n: n - 100)).missed() == {
        "cache.restored": (False, "partial")
    }


def test_a_server_that_does_not_tell_is_unknown() -> None:
    def silent(exchange: Exchange) -> Exchange:
        return structs.replace(exchange, cached_tokens=None)

    assert play(PAIR, silent).missed() == {
        "cache.restored": (None, ""),
        "cache.after_other": (None, ""),
        "cache.faster": (None, ""),
    }


@pytest.mark.parametrize("ms", [None, float("nan"), float("inf"), 0, -1, "fast", True])
def test_times_that_no_clock_has_said_are_unknown(ms: object) -> None:
    played = play(PAIR, of("cold", timings={"prompt_ms": ms}))
    assert played.missed() == {"cache.faster": (None, "")}
    assert play(PAIR, of("cold", timings=None)).missed() == {"cache.faster": (None, "")}


def test_restored_and_yet_as_slow_as_cold() -> None:
    def slow(exchange: Exchange) -> Exchange:
        return structs.replace(exchange, timings={"prompt_ms": 600.0})

    played = play(PAIR, slow)
    assert played.missed() == {"cache.faster": (False, "")}
    assert "1.0 times" in played.reason("cache.faster")


def test_one_fast_hit_is_enough() -> None:
    """A neighbour's prompt in the same batch slows a hit that is no slower by itself."""
    slow = {"prompt_ms": 600.0}
    assert play(PAIR, of("repeat", timings=slow)).missed() == {}


def test_a_first_question_that_was_not_cold_compares_nothing() -> None:
    played = play(PAIR, of("cold", cached_tokens=900))
    assert played.missed() == {"cache.faster": (None, "")}
    assert played.result.counts["cache.deals"] == 8


def test_which_deal_was_used_is_counted() -> None:
    assert play(PAIR).result.counts["cache.deals"] == 1
    held = play(PAIR, lambda e: structs.replace(e, cached_tokens=900) if e.id == "x0" else e)
    assert held.result.counts["cache.deals"] == 2


def busy(role: str, tokens: int) -> Callable[[Traffic, Ask], None]:
    """Other clients have so many tokens worked off just before the request of that role."""

    def beside(traffic: Traffic, ask: Ask) -> None:
        if ask.role == role:
            traffic.tokens += tokens

    return beside


def around(cache_tokens: int | None) -> Surroundings:
    return dataclasses.replace(AROUND, cache_tokens=cache_tokens)


@pytest.mark.parametrize(
    ("cache", "beside", "expected"),
    [
        (32_000, 20_000, (None, "evicted")),  # more than half the budget went by
        (32_000, 5_000, (False, "missed")),  # the cache had room for all of it
        (0, 1, (None, "evicted")),  # no host cache: anything takes the slot
        (None, 5_000, (None, "evicted")),  # size not told: the option `holds` stands in
        (None, 500, (False, "missed")),
    ],
)
def test_a_miss_past_the_host_caches_budget(cache: int | None, beside: int, expected: Any) -> None:
    """Eviction is a class of its own, and no failure of the cache."""
    lost = of("changed", cached_tokens=0)
    played = play(PAIR, lost, around=around(cache), beside=busy("changed", beside))
    assert played.missed() == {"cache.after_other": expected}
    if expected[0] is None:
        assert "went by since" in played.reason("cache.after_other")


def test_an_immediate_repeat_that_nothing_came_between_is_never_excused() -> None:
    lost = of("repeat", cached_tokens=0)
    for cache in (32_000, 0, None):
        assert play(PAIR, lost, around=around(cache)).missed() == {"cache.restored": (False, "missed")}


def test_only_what_came_between_excuses() -> None:
    """The same traffic before the last time that the prefix was used is no excuse."""
    lost = of("back", cached_tokens=0)
    before = play(PAIR, lost, beside=busy("changed", 40_000)).missed()
    assert before == {"cache.after_other": (False, "missed")}
    between = play(PAIR, lost, beside=busy("back", 40_000)).missed()
    assert between == {"cache.after_other": (None, "evicted")}


def left_over(registers: int) -> Change:
    """The first cold questions are restored: an earlier run of the same seed has asked them already."""
    seen: list[str] = []

    def change(exchange: Exchange) -> Exchange:
        if exchange.role != "cold":
            return exchange
        seen.append(exchange.id)
        held = len(seen) <= registers
        return (
            structs.replace(exchange, cached_tokens=(exchange.prompt_tokens or 1) - 1) if held else exchange
        )

    return change


def test_a_register_that_the_server_holds_already_is_dealt_again() -> None:
    played = play(PAIR, left_over(2))
    assert played.missed() == {}
    assert [a.role for a in played.asks] == ["cold", "cold", "cold", "repeat", "other", "changed", "back"]
    assert len({a.chat()[0]["content"] for a in played.asks[:3]}) == 3


def test_a_server_that_claims_every_register_is_not_dealt_to_for_ever() -> None:
    played = play(PAIR, left_over(1000))
    assert played.missed() == {"cache.faster": (None, "")}
    assert sum(a.role == "cold" for a in played.asks) == 8


def test_the_very_answer_out_of_a_store_says_nothing_of_the_cache() -> None:
    """A cache of answers in front gave the first one again, with its id and its times."""
    id = "chatcmpl-GepM0DIYOWyvuqP9oGp9iikfCi0QfXTZ"

    def stored(exchange: Exchange) -> Exchange:
        if exchange.role not in {"cold", "repeat", "back"}:
            return exchange
        return structs.replace(exchange, answer_id=id, cached_tokens=0, timings={"prompt_ms": 600.0})

    played = play(PAIR, stored)
    assert played.missed() == {
        "cache.restored": (None, "stored"),
        "cache.after_other": (None, "stored"),
    }
