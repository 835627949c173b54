"""Answers that belong to others, or to nobody: found by what each must say, and never by comparing prose."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from playedback import judged, records
from playing import AROUND, Change, Played, make, play
from scripted import documents

from soakproof.judge import Outcome
from soakproof.records import Exchange

FOUR = replace(AROUND, slots=4)
MARKED = make("isolation", clients=4, without_marker=0.0)
UNMARKED = make("isolation", clients=4, without_marker=1.0)


def case(name: str) -> Any:
    return json.loads((INPUTS / name).read_text())


def said_by(played: Played) -> dict[str, str]:
    return {e.role: e.text for e in played.exchanges}


def told(texts: dict[str, str]) -> Change:
    """These answers by role; the others as they are."""
    return lambda exchange: structs.replace(exchange, text=texts.get(exchange.role, exchange.text))


def swap(scenario: Any, order: tuple[int, ...] | list[int]) -> Played:
    """An iteration in which client n is answered with what client ``order[n]`` must be told."""
    right = [said_by(play(scenario, around=FOUR))[f"client-{n}"] for n in range(1, len(order) + 1)]
    texts = {f"client-{n}": right[place] for n, place in enumerate(order, 1)}
    return play(scenario, told(texts), around=FOUR)


def order_of(name: str, fact: str) -> list[int]:
    """Whose answer each client of a case was given, by the fact in the prompt that the answer shows."""
    pairs = documents(name)
    facts = [re.search(fact, pair["prompt"]) for pair in pairs]
    answers = [pair["response"]["choices"][0]["message"]["content"] for pair in pairs]
    shown = [[f is not None and f[0].lower() in answer.lower() for f in facts] for answer in answers]
    return [row.index(True) for row in shown]


@pytest.mark.case(10)
def test_answers_that_were_swapped_word_for_word() -> None:
    order = order_of("10-verbatim-swap-four-clients.json", r"K-\d+")
    assert order == [0, 2, 1, 3]
    played = swap(MARKED, order)
    assert played.outcomes()["isolation.own"] == [
        (True, ""),
        (False, "swapped"),
        (False, "swapped"),
        (True, ""),
    ]
    assert played.missed()["isolation.foreign"] == (False, "")
    leak = judged("isolation", records(played, "isolation"))["foreign"]
    assert leak.outcome is Outcome.FAIL
    assert set(leak.exchanges) == {"x1", "x2"}
    assert "running at the same time" in leak.answer


@pytest.mark.case(10)
def test_a_bleed_without_any_mark_is_seen_by_what_is_expected() -> None:
    order = order_of("10-semantic-bleed-no-nonce.json", "Hamlet|penicillin")
    assert order == [1, 1]
    played = swap(UNMARKED, [*order, 2, 3])
    assert played.missed() == {"isolation.own": (False, "swapped")}
    assert judged("functional", records(played, "isolation"))["isolation.own"].outcome is Outcome.FAIL
    assert "foreign" in judged("isolation", records(played, "isolation"))


@pytest.mark.case(10)
@given(st.permutations(range(4)))
def test_whatever_was_swapped(order: list[int]) -> None:
    for scenario in (MARKED, UNMARKED):
        outcomes = swap(scenario, order).outcomes()["isolation.own"]
        assert [ok for ok, _ in outcomes] == [place == n for n, place in enumerate(order)]


@pytest.mark.case(10)
@settings(max_examples=40)
@given(st.integers(1, 4), st.integers(0, 10**6), st.sampled_from(["text", "reasoning", "tool_calls"]))
def test_a_piece_of_anothers_line_anywhere_in_an_answer(client: int, place: int, where: str) -> None:
    right = said_by(play(MARKED, around=FOUR))
    other = right[f"client-{client % 4 + 1}"].split()[place % 12]
    mine = right[f"client-{client}"].split()
    mine.insert(place % len(mine), other)

    def change(exchange: Exchange) -> Exchange:
        hit = exchange.role == f"client-{client}"
        return structs.replace(exchange, **{where: " ".join(mine)}) if hit else exchange

    played = play(MARKED, change, around=FOUR)
    assert played.missed()["isolation.foreign"] == (False, "")
    assert judged("isolation", records(played, "isolation"))["foreign"].outcome is Outcome.FAIL


@pytest.mark.case(13)
@pytest.mark.parametrize("deployment", ["deployment_A", "deployment_B"])
def test_needles_on_both_sides_of_a_batch_are_an_oracle_of_their_own(deployment: str) -> None:
    """Both sides of a comparison may share the fault: neither answers its needles."""
    short, long, raised = case("13-wrong-logits-beyond-ubatch.json")["cases"]
    assert short[deployment] == raised[deployment] == short["expected"] != long[deployment]
    for ubatch, wrong in ((512, True), (2048, False)):
        around = replace(AROUND, ubatch=ubatch, batch=2048)
        garbled = beyond(ubatch, 1500, long[deployment])
        played = play(make("near_context", prompt=1200), garbled, around=around)
        sizes = [e.prompt_tokens or 0 for e in played.exchanges]
        assert min(sizes) < ubatch < max(sizes)
        assert any(outcome is False for outcome, _ in played.missed().values()) == wrong
        if wrong:
            assert set(played.missed().values()) == {(False, "beyond_ubatch")}
            found = judged("functional", records(played, "near_context"))
            assert found["context.start"].outcome is Outcome.FAIL


def beyond(least: int, most: int, text: str) -> Change:
    """Prompts of more tokens than that are answered with a text."""
    return lambda e: structs.replace(e, text=text) if least < (e.prompt_tokens or 0) <= most else e


@pytest.mark.case(13)
@settings(max_examples=20)
@given(st.sampled_from(["start", "middle", "end"]), st.integers(0, 50))
def test_each_depth_is_asked_by_itself(depth: str, number: int) -> None:
    """Only the oldest context, or only what lies past a batch, can be lost."""

    def change(exchange: Exchange) -> Exchange:
        return (
            structs.replace(exchange, text="word salad") if exchange.role.endswith(f"-{depth}") else exchange
        )

    missed = play(make("near_context", prompt=2400), change, number=number).missed()
    assert set(missed) == {f"context.{depth}"}


@pytest.mark.case(15)
def test_prose_that_differs_between_a_cold_and_a_warm_cache_is_no_fault() -> None:
    responses = case("15-cached-repeat-changes-greedy.json")["responses"]
    cold, warm, again = [r["text"] for r in responses]
    assert cold != warm == again
    prose, found = make("long_prose"), []
    for number, response in enumerate(responses):
        played = play(prose, _begins(response["text"], response["timings"]["cache_n"]), number=number)
        assert played.missed() == {}
        found += [
            structs.replace(r, id=f"p{number}") if isinstance(r, Exchange) else r
            for r in records(played, "long_prose", number)
        ]
    for adjudicator in ("functional", "isolation", "protocol"):
        assert not [f for f in judged(adjudicator, found).values() if f.outcome is Outcome.FAIL]


@pytest.mark.case(15)
def test_a_cache_pair_asks_for_what_has_one_right_answer() -> None:
    """So rounding that turns one word of free prose cannot fail it, and a wrong restored prefix must."""
    pair = play(make("cache_pair"))
    assert pair.missed() == {}
    answers = {e.role: e.text for e in pair.exchanges}
    assert answers["cold"] == answers["repeat"] == answers["back"]
    assert all(re.fullmatch(r"[A-Z0-9]{4}-[A-Z0-9]{4}", text) for text in answers.values())


def _begins(text: str, cached: int) -> Change:
    return lambda exchange: structs.replace(exchange, text=f"{text} {exchange.text}", cached_tokens=cached)


@pytest.mark.case(17)
def test_a_cold_burst_is_counted_apart_from_the_warm_one() -> None:
    burst = case("17-same-step-prefix-burst.json")
    right = burst["expected"]
    scenario, found = make("shared_prefix", clients=4), []
    for number in range(len(burst["responses"]) // 4):
        mine = slice(4 * number, 4 * number + 4)
        phases = {"cold": burst["responses"][mine], "warm": burst["repeat_burst_warm"][mine]}
        texts = {
            f"{phase}-{n}": text
            for phase, said in phases.items()
            for n, text in enumerate(said, 1)
            if text != right
        }
        played = play(scenario, told(texts), number=number, around=FOUR)
        found += records(played, "shared_prefix", number)
    judgement = judged("functional", [r for r in found if not isinstance(r, Exchange)])
    cold, warm = judgement["prefix.cold"], judgement["prefix.warm"]
    assert (cold.outcome, warm.outcome) == (Outcome.FAIL, Outcome.PASS)
    assert cold.answer.startswith("Failed in 5 of 32")


@pytest.mark.case(19)
def test_a_session_that_returns_with_anothers_memory() -> None:
    foreign = case("19-returning-session-foreign-kv.json")["S1_turn2_after_20min"]["answer"]
    scenario = make("returning")
    healthy = play(scenario)
    assert healthy.missed() == {}
    roles = [ask.role for ask in healthy.asks]
    assert roles.count("other") > AROUND.slots  # pressure comes between
    assert play(scenario, told({"late": foreign})).missed() == {"returning.late": (False, "wrong")}
    others = [e.text for e in healthy.exchanges if e.role == "other"]
    leaked = play(scenario, told({"late": others[-1]}))
    assert leaked.missed() == {"returning.late": (False, "foreign"), "returning.foreign": (False, "")}
    assert judged("isolation", records(leaked, "returning"))["foreign"].outcome is Outcome.FAIL
