"""What a run does not prove follows from what was run."""

from typing import Any

import pytest

from soakproof.judge import Evidence
from soakproof.judge.notproven import not_proven
from soakproof.records import Exchange
from soakproof.testing.evidence import evidence, exchange, iteration, sample


def told(run: Evidence, baseline: Evidence | None = None) -> str:
    return "\n".join(not_proven(run, baseline))


def prompt(n: int, tokens: int, at: float) -> Exchange:
    return exchange(f"p{n}", at=at, took=10.0, iteration=n, prompt_tokens=tokens, completion_tokens=100)


def test_a_short_run_shows_no_leak_and_no_day() -> None:
    text = told(evidence(prompt(1, 100, 0), duration=1820.47))
    assert "30 min of load can neither prove nor exclude a leak" in text
    assert "24-hour" in text
    long = told(evidence(prompt(1, 100, 0), duration=90_000.0))
    assert "leak" not in long
    assert "24-hour" not in long


def test_context_that_was_not_filled_is_named_with_its_size() -> None:
    text = told(evidence(prompt(1, 6000, 0)))
    assert "the longest had 6,100 of 16,384 tokens" in text
    apart = told(evidence(prompt(1, 16_000, 0), prompt(2, 16_000, 20)))
    assert "No two near-full prompts ran at once." in apart
    together = told(evidence(prompt(1, 16_000, 0), prompt(2, 16_000, 5)))
    assert "near-full" not in together


def test_concurrency_and_overlaps_are_counted() -> None:
    run = evidence(
        prompt(1, 100, 0),
        prompt(2, 100, 5),
        [iteration("isolation", n, overlap=1) for n in range(10)],
    )
    assert "Never more than 2 requests were in flight at once, on 2 slots: queueing was not tested." in told(
        run
    )
    assert "Isolation rests on 10 pairs" in told(run)
    assert "Isolation between requests was not tested." in told(evidence(prompt(1, 100, 0)))


def test_phases_in_which_nothing_was_cancelled_are_named() -> None:
    def cut(phase: str, n: int) -> Exchange:
        return exchange(f"c{n}", iteration=n, cancel_planned=f"{phase}: after 1.0 s", cancelled_ns=1)

    phases = ("queued", "prefill", "first_token", "near_end", "unstreamed")
    assert (
        "No request was cancelled while queued, during prefill, at the first token, near the end "
        "or without streaming." in told(evidence(cut("decode", 1)))
    )
    every = [cut(p, n) for n, p in enumerate(("decode", *phases))]
    assert "cancelled" not in told(evidence(every))
    assert "No request was cancelled: a freed slot" in told(evidence(prompt(1, 100, 0)))


def test_what_was_not_seen_is_named() -> None:
    assert "kernel log could not be read" in told(evidence(sample("kernel_log", state="denied")))
    seen: list[Any] = [
        sample("kernel_log"),
        sample("memory"),
        sample("process:backend"),
        sample("slots"),
        sample("amdgpu:card1"),
    ]
    text = told(evidence(seen))
    assert "Nothing was seen of" not in text
    assert "a quiet log is not proof" in text


def test_baselines_testbeds_and_few_repeats() -> None:
    assert "no baseline" in told(evidence(prompt(1, 1, 0)))
    few = evidence([iteration("long_prose", n) for n in range(3)], target={"testbed": True})
    text = told(few, evidence(id="before"))
    assert "Fewer than 5 repeats of long_prose" in text
    assert "not interleaved" in text
    assert "The target was the testbed" in text


def test_a_run_of_nothing_is_told_without_a_fault() -> None:
    empty = Evidence(run={}, raw=None, records=())
    assert "The run's end is not known" in told(empty)


@pytest.mark.parametrize(
    ("asked", "target", "tested"),
    [
        ("llm", {"kind": "lemonade", "model_resolved": "Probe"}, True),
        ("user.Probe:latest", {"kind": "lemonade", "model_resolved": "Probe"}, False),  # its own name
        ("llm", {"kind": "lemonade", "model_resolved": None}, False),
        ("llm", {"kind": "llamacpp", "model_resolved": "/models/probe.gguf"}, False),  # whatever is asked
    ],
)
def test_an_alias_was_tested_where_the_requests_asked_by_one(
    asked: str, target: dict[str, Any], tested: bool
) -> None:
    text = told(evidence(exchange("x", model_asked=asked), target=target))
    assert ("aliases were not tested" not in text) is tested
    assert "routers were not tested" in text
    routed = exchange("r", model_asked=asked, route="fast; Probe")
    assert "routers" not in told(evidence(routed, target=target))


def test_kinds_that_were_left_out_were_not_tested() -> None:
    assert "[short], were not tested: cache, cancel." in told(
        evidence(plan={"left_out": ["cache", "cancel"]})
    )
    assert "left out" not in told(evidence(plan={"left_out": []}))
    assert "left out" not in told(evidence())
