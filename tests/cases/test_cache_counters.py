"""What a server says of its prompt cache, held against the prompt's size and the time it took."""

from pathlib import Path
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from playedback import judged, records
from playing import Change, make, play
from responses import DONE, STOP, events, read, text
from scripted import documents

import soakproof
from soakproof.judge import Outcome
from soakproof.records import Exchange
from soakproof.testing.evidence import adjudicate, evidence

PAIR = make("cache_pair")
SOURCE = Path(soakproof.__file__).parent


def with_numbers(usage: Any = None, timings: Any = None) -> Exchange:
    last = {"choices": [], "usage": usage, "timings": timings}
    return read(events(text("a"), STOP, last, DONE))


def told(cold: dict[str, Any], warm: dict[str, Any]) -> Change:
    """The timings of the first question, and of those that should find its prefix."""

    def change(exchange: Exchange) -> Exchange:
        timings = cold if exchange.role == "cold" else warm
        if exchange.role == "other":
            return exchange
        prompt, cached = timings["cache_n"] + timings["prompt_n"], timings["cache_n"]
        return replace(exchange, prompt_tokens=prompt, cached_tokens=cached, timings=timings)

    return change


@pytest.mark.case(16)
def test_no_reuse_is_seen_in_counters_and_time_and_is_no_wrong_answer() -> None:
    (case,) = documents("16-hybrid-no-reuse.json")
    cold, second, good = (case[name]["timings"] for name in ("cold", "second", "good_in_memory"))
    played = play(PAIR, told(cold, second))
    missed = played.missed()
    assert missed["cache.restored"] == missed["cache.after_other"] == (False, "missed")
    assert "cache.exact" not in missed
    assert "prompt work 18990 ms, cold 18801 ms" in played.reason("cache.restored")
    found = judged("functional", records(played, "cache_pair"))
    assert found["cache.restored"].outcome is Outcome.FAIL
    assert found["cache.exact"].outcome is Outcome.PASS
    assert play(PAIR, told(cold, good)).missed() == {}


@pytest.mark.case(16)
def test_a_perfect_match_in_a_log_is_not_believed() -> None:
    """Nor are counters: a hit that takes as long as the cold question restored nothing."""
    (case,) = documents("16-hybrid-no-reuse.json")
    assert "f_sim_best = 1.000" in case["log"][0]
    assert "forcing full prompt re-processing" in (INPUTS / "16-hybrid-no-reuse.server-log.txt").read_text()
    claimed = {**case["good_in_memory"]["timings"], "prompt_ms": case["second"]["timings"]["prompt_ms"]}
    assert play(PAIR, told(case["cold"]["timings"], claimed)).missed() == {"cache.faster": (False, "")}


@pytest.mark.case(48)
@pytest.mark.parametrize(("call", "cached"), [("call1", 0), ("call2", 17_400)])
def test_the_prompt_is_the_cached_part_and_the_rest(call: str, cached: int) -> None:
    numbers = documents("48-uncached-only-counters.json")[0][call]
    for exchange in (with_numbers(**numbers), with_numbers(timings=numbers["timings"])):
        assert (exchange.prompt_tokens, exchange.cached_tokens) == (18_600, cached)
        assert exchange.notes == ()


@pytest.mark.case(48)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-3, 3), st.integers(-3, 3))
def test_counters_that_contradict_each_other_are_a_doubt(cached: int, new: int, off: int, more: int) -> None:
    details = {"cached_tokens": max(0, cached + more)}
    usage = {"prompt_tokens": max(0, cached + new + off), "prompt_tokens_details": details}
    exchange = with_numbers(usage, {"cache_n": cached, "prompt_n": new})
    notes = {note.partition(":")[0] for note in exchange.notes}
    assert ("prompt_counts_disagree" in notes) == (usage["prompt_tokens"] != cached + new)
    assert ("cached_counts_disagree" in notes) == (details["cached_tokens"] != cached)
    for note in notes & {"prompt_counts_disagree", "cached_counts_disagree"}:
        assert adjudicate("protocol", evidence(exchange))[note].outcome is Outcome.INCONCLUSIVE


@pytest.mark.case(48)
def test_nobody_asks_for_the_numbers_of_the_last_request_of_any_client() -> None:
    """They stand in Lemonade's /stats, which our own testbed has, and no other room asks for."""
    (case,) = documents("48-uncached-only-counters.json")
    assert case["stats_after_a_side_call_of_another_client"] != case["stats_after_call2"]
    asking = [path for path in SOURCE.rglob("*.py") if '/stats"' in path.read_text()]
    assert {path.parent.name for path in asking} <= {"testbed"}
