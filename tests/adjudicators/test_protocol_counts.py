"""Protocol: prompts, events and ends against the habit of the run; what healthy servers do is no oddity."""

from typing import Any

import pytest

from soakproof.judge import Finding, Outcome
from soakproof.records import Exchange
from soakproof.testing.evidence import adjudicate, evidence, exchange

AROUND = {"slot_context": 16384, "chars_per_token": 2.7}


def kinds(registers: bool = True) -> list[dict[str, Any]]:
    return [{"name": name, "registers": registers} for name in ("cache_pair", "long_prose")]


def judged(*exchanges: Exchange, registers: bool = True) -> dict[str, Finding]:
    unknown = {"build": None}  # of which usage and timings are not missed
    plan = {"kinds": kinds(registers)}
    run = evidence(list(exchanges), plan=plan, run={"around": AROUND}, target=unknown)
    return adjudicate("protocol", run)


def told(kind: str, i: int, **more: Any) -> Exchange:
    return exchange(f"{kind}-{i}", kind=kind, at=float(i), iteration=i, done_marker=True, **more)


def lookup(i: int, chars: int = 3300, tokens: int | None = None, **more: Any) -> Exchange:
    """A register of ``chars``, with 20 tokens of a template; ``tokens`` in place of the right number."""
    right = 20 + round(chars / (2.7 + 0.01 * (i % 3)))
    counts = {"prompt_tokens": right if tokens is None else tokens, "cached_tokens": 5}
    return told("cache_pair", i, prompt_chars=chars, completion_tokens=10, token_events=9, **counts | more)


def echoed(i: int, lost: int = 0, **more: Any) -> Exchange:
    """A short answer that ended by itself: its last token has no text."""
    counts = {"completion_tokens": 30, "token_events": 29 - lost, "prompt_tokens": 50}
    return told("isolation", i, **counts | more)


def prose(i: int, lost: int = 0, tokens: int = 300, **more: Any) -> Exchange:
    """A forced answer up to its limit."""
    counts = {"completion_tokens": tokens, "token_events": tokens - lost, "prompt_tokens": 50}
    return told("long_prose", i, **counts | {"max_tokens": 300, "finish_reason": "length"} | more)


SHORT = [echoed(i) for i in range(20)]
LOOKUPS = [lookup(i) for i in range(10)]


def test_a_healthy_run_has_none_of_them() -> None:
    longer = [lookup(20 + i, chars=16_000) for i in range(3)]
    forced = [prose(30 + i, lost=i % 2) for i in range(5)]
    found = judged(*SHORT, *LOOKUPS, *longer, *forced)
    assert set(found) == {"answers"}


@pytest.mark.parametrize("template", [0, 100, 400])
def test_a_long_template_makes_no_habit_that_longer_prompts_miss(template: int) -> None:
    """It weighs on short prompts: longer ones have fewer tokens a character, and were not cut."""
    shorter = [lookup(i, tokens=round(2000 / 2.7) + template, chars=2000) for i in range(9)]
    longer = [lookup(20 + i, tokens=round(30_000 / 2.7) + template, chars=30_000) for i in range(3)]
    small = echoed(40, prompt_tokens=50 + template)
    assert set(judged(*shorter, *longer, small)) == {"answers"}


def test_system_prompts_that_were_dropped() -> None:
    """Half of the registers stood in the system prompt; their questions alone were counted."""
    found = judged(*LOOKUPS, *(lookup(10 + i, tokens=35) for i in range(10)), *SHORT)["prompt_cut"]
    assert found.outcome is Outcome.FAIL
    assert found.figures[0].value == 10
    assert "35 tokens of 3,300 characters" in found.answer


def test_a_context_that_is_silently_a_little_smaller() -> None:
    cut = [lookup(20 + i, chars=6600, tokens=20 + round(6000 / 2.7)) for i in range(3)]
    found = judged(*LOOKUPS, *cut, *SHORT)["prompt_tokens_few"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.exchanges == tuple(e.id for e in cut)


def test_prompts_that_were_all_cut_miss_the_sample() -> None:
    cut = [lookup(i, chars=16_000, tokens=2240) for i in range(3)]
    assert judged(*cut)["prompt_tokens_few"].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "fields",
    [
        {"cached_tokens": None},  # may count only what was not cached
        {"cached_tokens": 1200},
        {"chars": 1500},
        {"outcome": "fail"},
    ],
)
def test_prompts_that_cannot_be_compared(fields: dict[str, Any]) -> None:
    few = [lookup(20 + i, **{"tokens": 35, **fields}) for i in range(3)]
    assert "prompt_cut" not in judged(*LOOKUPS, *few)


def test_a_kind_of_other_texts_is_not_compared() -> None:
    assert set(judged(*LOOKUPS, lookup(20, tokens=35), lookup(21, tokens=35), registers=False)) == {"answers"}


def test_events_lost_on_the_way() -> None:
    found = judged(*SHORT, *(prose(30 + i, lost=3) for i in range(4)), prose(40))["events_lost"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "in 4 of 5 exchanges" in found.answer
    assert "300 tokens in 297 events" in found.answer


def test_a_few_forced_answers_with_tokens_that_have_no_text_are_only_told() -> None:
    few = [prose(30 + i, lost=9 if i < 2 else 0) for i in range(5)]
    assert judged(*SHORT, *few)["events_lost"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "漢字 🍋 and more of it"},  # tokens with a part of a character
        {"text": "a <b> in it"},
        {"reasoning": "hm"},
        {"stream": False},
    ],
)
def test_answers_whose_events_are_fewer_in_good_order(fields: dict[str, Any]) -> None:
    assert "events_lost" not in judged(*SHORT, *(prose(30 + i, lost=3, **fields) for i in range(4)))


def test_a_server_whose_events_are_not_its_tokens_has_no_habit() -> None:
    joined = [echoed(i, lost=i % 5) for i in range(20)]
    assert "events_lost" not in judged(*joined, *(prose(30 + i, lost=150) for i in range(4)))


def test_whole_answers_that_are_told_to_be_cut() -> None:
    early = [echoed(40 + i, finish_reason="length", max_tokens=64) for i in range(2)]
    found = judged(*SHORT, prose(30), *early)["length_early"]
    assert found.outcome is Outcome.FAIL
    assert "in 2 of 3 exchanges" in found.answer
    assert "30 of 64 tokens" in found.answer


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_tokens": 16_300},  # the slot's context was full
        {"prompt_tokens": None},
        {"max_tokens": 30},
        {"outcome": "fail"},
    ],
)
def test_answers_that_a_limit_may_have_cut(fields: dict[str, Any]) -> None:
    cut = [echoed(40 + i, **{"finish_reason": "length", "max_tokens": 64, **fields}) for i in range(2)]
    assert "length_early" not in judged(*SHORT, prose(30), *cut)


def test_a_servers_own_limit_of_tokens_is_no_lie() -> None:
    capped = [prose(30 + i, tokens=256, max_tokens=768) for i in range(4)]
    assert "length_early" not in judged(*SHORT, *capped)


def test_the_words_around_a_short_register_have_fewer_tokens() -> None:
    """They weigh on it alone; the habit may be that of far longer prompts."""
    longer = [lookup(i, tokens=5 + round(30_000 / 2.4), chars=30_000) for i in range(9)]
    shorter = [lookup(20 + i, tokens=5 + round(1950 / 2.4 + 150 / 4.8), chars=2100) for i in range(3)]
    assert set(judged(*longer, *shorter, echoed(40, prompt_tokens=25))) == {"answers"}


def test_events_that_came_twice() -> None:
    found = judged(*SHORT, *(prose(30 + i, lost=-1) for i in range(3)))["events_doubled"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "301 events for 300 tokens" in found.answer
    assert judged(*SHORT, prose(30, lost=-1))["events_doubled"].outcome is Outcome.PASS  # one is told alone


def test_a_server_that_counts_otherwise_has_no_doubled_events() -> None:
    assert "events_doubled" not in judged(*SHORT, *(prose(30 + i, lost=-1) for i in range(20)))


def test_tokens_that_are_counted_thrice() -> None:
    thrice = [echoed(i, lost=19) for i in range(3)]
    found = judged(*(prose(30 + i) for i in range(5)), *thrice)["tokens_overcounted"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "30 tokens in 10 events" in found.answer
    assert "tokens_overcounted" not in judged(*(prose(30 + i, lost=150) for i in range(5)), *thrice)
    assert "tokens_overcounted" not in judged(*(prose(30 + i) for i in range(5)), *SHORT)
