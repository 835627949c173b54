"""Delivery: answers out of a store, parameters changed on the way, requests sent twice; and none of that."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from soakproof.judge import Evidence, Finding, Outcome
from soakproof.records import Exchange, Sample
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, opened, sample

WORK = {"prompt_ms": 1180.25, "predicted_ms": 22.125}


def id_of(n: int) -> str:
    """An id as llama.cpp makes them."""
    return f"chatcmpl-{n:04d}DIYOWyvuqP9oGp9iikfCi0QfXT"


def answered(n: int, **more: Any) -> Exchange:
    """An answer of its own, made in two seconds."""
    values = {
        "at": 3.0 * n,
        "took": 2.0,
        "iteration": n,
        "seed": 5000 + n,
        "text": f"answer {n}",
        "prompt_digest": f"prompt {n}",
        "answer_id": id_of(n),
        "timings": {"prompt_ms": 1100.5 + n, "predicted_ms": 30.25},
        "temperature": 0.0,
    }
    return exchange(f"load-{n}", **{**values, **more})


def slots(at: float, *busy: tuple[int, float | None, int | None], seedless: int = 0, task: int = 7) -> Sample:
    """A reading of two slots; each busy one by its request's seed, temperature and limit of tokens."""
    return sample(
        "slots",
        at,
        total=2,
        busy=len(busy),
        seeds=[seed or None for seed, _, _ in busy],
        tasks=[task + n for n in range(len(busy))],
        decoded=[10 for _ in busy],
        temperatures=[temperature for _, temperature, _ in busy],
        max_tokens=[limit for _, _, limit in busy],
        seedless=seedless,
        last_tasks=[task, int(at * 10)],
    )


def judged(*records: Any, **options: Any) -> dict[str, Finding]:
    return adjudicate("delivery", evidence(*records), **options)


def healthy(n: int = 8) -> list[Any]:
    """Requests that their slots show as they were sent."""
    requests = [answered(i) for i in range(n)]
    return [*requests, *(slots(3.0 * i + 1, (5000 + i, 1e-9, 64)) for i in range(n))]


def test_what_arrives_as_it_was_sent_and_is_answered_anew_passes() -> None:
    found = judged(*healthy())
    assert {name: f.outcome for name, f in found.items()} == {
        "stored": Outcome.PASS,
        "requests": Outcome.PASS,
    }
    assert found["requests"].answer == (
        "8 requests seen at a slot: each once, and nothing of it changed that is shown."
    )


def test_the_answer_of_the_same_prompt_given_again_makes_it_inconclusive() -> None:
    again = answered(3, took=0.01, text="answer 1", prompt_digest="prompt 1", answer_id=id_of(1))
    found = judged(answered(1), answered(2), again)["stored"]
    assert (found.outcome, found.critical, found.fault) == (Outcome.INCONCLUSIVE, True, "")
    assert "load-3 (long_prose 3 ask) got that of load-1 (long_prose 1 ask)" in found.answer
    assert "A cache of answers stands in front" in found.answer
    assert found.strength == "1 by the same id"
    known = judged(answered(1), answered(2), again, replays=True)["stored"]
    assert not known.critical


def test_the_answer_of_another_prompt_fails_whatever_is_known_of_a_cache() -> None:
    again = answered(3, text="answer 1", answer_id=id_of(1))
    found = judged(answered(1), answered(2), again, replays=True)["stored"]
    assert (found.outcome, found.critical, found.fault) == (Outcome.FAIL, True, "front")
    assert "1 request was given another prompt's answer" in found.answer


def test_a_stored_answer_under_a_new_id_is_known_by_times_that_nobody_worked() -> None:
    first = answered(1, timings=WORK)
    again = answered(3, took=0.003, text="answer 1", prompt_digest="prompt 1", timings=WORK)
    assert judged(first, again)["stored"].strength == "1 by the same times, in less time than they claim"
    slow = answered(3, text="answer 1", prompt_digest="prompt 1", timings=WORK)
    assert judged(first, slow)["stored"].outcome is Outcome.PASS, "it may be chance"


@pytest.mark.parametrize("edited", [1, 3])
def test_a_stored_answer_is_known_by_its_words_whatever_digest_was_kept(edited: int) -> None:
    run = [answered(n, text="answer 1", answer_id=id_of(1)) if n == 3 else answered(n) for n in range(1, 4)]
    run[edited - 1] = replace(run[edited - 1], text_digest="another")
    assert judged(*run)["stored"].exchanges == ("load-3", "load-1")
    same = [replace(answered(n, answer_id=id_of(1)), text_digest="same") for n in (1, 3)]
    assert judged(*same, *map(answered, range(4, 9)))["stored"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("front", "outcome"), [(23, Outcome.PASS), (31, Outcome.INCONCLUSIVE), (9, Outcome.INCONCLUSIVE)]
)
def test_a_prompt_has_as_many_tokens_through_the_front(front: int, outcome: Outcome) -> None:
    target = {"prompt_counts": {"front": front, "backend": 23}}
    found = adjudicate("delivery", evidence(*healthy(), target=target))["prompts"]
    assert found.outcome is outcome
    assert found.fault == ("" if front == 23 else "front")
    assert "23 tokens" in found.answer


@pytest.mark.parametrize("counts", [None, {}, {"front": 9}, {"front": "9", "backend": 9}, [9, 9]])
def test_of_a_prompt_that_nobody_counted_nothing_is_said(counts: Any) -> None:
    assert "prompts" not in adjudicate("delivery", evidence(*healthy(), target={"prompt_counts": counts}))


STORY = " ".join(f"word{n}" for n in range(90))


def told(n: int, text: str, **more: Any) -> Exchange:
    """A long answer, drawn at a temperature."""
    return answered(n, **{"text": text, "temperature": 0.8, "timings": None, **more})


@pytest.mark.parametrize("again", [STORY, STORY[:400], f"{STORY} and on"])
def test_a_drawn_text_that_another_prompt_had_been_given_fails_whatever_its_id(again: str) -> None:
    """As out of a cache of answers to prompts that are alike, which makes up ids and times."""
    found = judged(told(1, STORY), told(2, f"Other {STORY}"), told(3, again))["stored"]
    assert (found.outcome, found.critical, found.fault) == (Outcome.FAIL, True, "front")
    assert found.strength == "1 by the same words, which were drawn at a temperature"


@pytest.mark.parametrize(
    "again",
    [
        told(3, STORY, temperature=0.0),  # the likeliest text may be the same for many prompts
        told(3, STORY[:250]),  # short
        told(3, f"{STORY[:500]} but then"),  # goes on otherwise
        told(3, STORY, prompt_digest="prompt 1"),  # the same prompt: see the ids
    ],
)
def test_what_may_be_the_same_by_itself_tells_nothing(again: Exchange) -> None:
    assert judged(told(1, STORY), told(2, f"Other {STORY}"), again)["stored"].outcome is Outcome.PASS


def test_a_model_that_goes_round_in_circles_may_do_so_twice() -> None:
    circles = "on and on " * 60
    assert judged(told(1, circles), told(2, circles))["stored"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "ids",
    ["chatcmpl-12", "fastflowlm-chat-completion", "chatcmpl-00000000000000000000", None],
    ids=["few numbers, as Ollama's", "a word", "zeros", "none"],
)
def test_servers_whose_answers_have_no_ids_of_their_own_are_healthy(ids: str | None) -> None:
    run = [answered(n, answer_id=ids, text="yes", timings=None, prompt_digest="p") for n in range(9)]
    assert judged(*run)["stored"].outcome is Outcome.PASS


def test_an_id_that_most_answers_have_tells_nothing() -> None:
    run = [answered(n, answer_id=id_of(0), text="yes", timings=None, prompt_digest="p") for n in range(9)]
    assert judged(*run)["stored"].outcome is Outcome.PASS


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=30))
def test_equal_times_alone_never_make_a_replay(times: list[tuple[int, int]]) -> None:
    """In a long soak of one short answer some are bound to be alike."""
    run = [
        answered(n, text="yes", answer_id=None, timings={"prompt_ms": a * 100.0, "predicted_ms": b * 100.0})
        for n, (a, b) in enumerate(times)
    ]
    outcome = Outcome.PASS if times else Outcome.INCONCLUSIVE
    assert judged(*run)["stored"].outcome is outcome


@pytest.mark.parametrize(("temperature", "limit"), [(1.0, 64), (0.0, 32)])
def test_a_parameter_that_its_slot_shows_otherwise_fails(temperature: float, limit: int) -> None:
    """Where limits are lowered to several values, that is no limit of the server's own."""
    run = [
        answered(1),
        answered(2, max_tokens=512),
        slots(4.0, (5001, temperature, limit)),
        slots(7.0, (5002, temperature, limit * 8)),
    ]
    found = judged(*run)["parameters"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "front")
    assert set(found.exchanges) == {"load-1", "load-2"}
    assert "first: load-1 asked for" in found.answer


def test_a_request_that_never_ended_counts_too() -> None:
    lost = opened(answered(1))
    assert judged(lost, slots(4.0, (5001, 1.0, 64)))["parameters"].outcome is Outcome.FAIL


def test_a_limit_of_the_servers_own_is_told_alone() -> None:
    requests = [answered(n, max_tokens=100 * n) for n in range(1, 5)]
    looks = [slots(3.0 * n + 1, (5000 + n, 0.0, min(256, 100 * n))) for n in range(1, 5)]
    found = judged(*requests, *looks)["parameters"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    assert found.answer == "The server lowers max_tokens to 256, a limit of its own."


def test_what_was_asked_in_order_to_be_refused_is_not_compared() -> None:
    odd = answered(1, refusal_planned=True)
    assert "parameters" not in judged(odd, slots(4.0, (5001, 1.0, 1)))


def test_seeds_that_stand_at_no_slot_were_taken_away() -> None:
    """With another temperature than anybody asked for, or where other requests' seeds are shown."""
    requests = [answered(n) for n in range(6)]
    lost = [slots(3.0 * n + 1, (0, 1.0, 64), seedless=1) for n in range(6)]
    found = judged(*requests, *lost)["parameters"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "front")
    assert "requests without a seed, of temperature 1" in found.answer

    warm = [answered(n, temperature=0.8) for n in range(6, 12)]
    mixed = [slots(3.0 * n + 1, (5000 + n, 0.0, 64)) for n in range(6)]
    mixed += [slots(3.0 * n + 1, (0, 0.8, 64), seedless=1) for n in range(6, 12)]
    found = judged(*requests, *warm, *mixed)["parameters"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "front")
    assert "the seed of requests with temperature 0.8 stood at no slot in 6 looks" in found.answer


def test_a_server_that_shows_a_seed_of_nobodys_at_all_convicts_nobody() -> None:
    requests = [answered(n) for n in range(6)]
    looks = [slots(3.0 * n + 1, (0, 0.0, 64), seedless=1) for n in range(6)]
    assert judged(*requests, *looks)["parameters"].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("seedless", [0, 1], ids=["no seeds shown", "somebody else beside us"])
def test_slots_without_seeds_that_have_another_reason_are_no_change(seedless: int) -> None:
    requests = [answered(n) for n in range(6)]
    own = [(5000 + n, 0.0, 64) for n in range(6)] if seedless else [(0, 0.0, 64)] * 6
    looks = [slots(3.0 * n + 1, one, (0, 1.0, 64), seedless=seedless) for n, one in enumerate(own)]
    assert "parameters" not in judged(*requests, *looks)


def test_slots_that_tell_nothing_of_parameters_are_not_compared() -> None:
    old = sample("slots", 4.0, total=2, busy=1, seeds=[5001], decoded=[4])
    assert judged(answered(1), old)["requests"].outcome is Outcome.PASS


def test_a_seed_in_two_slots_at_once_is_a_request_that_was_sent_twice() -> None:
    both = slots(4.0, (5001, 0.0, 64), (5001, 0.0, 64))
    found = judged(answered(1), both)["twice"]
    assert (found.outcome, found.fault, found.exchanges) == (Outcome.FAIL, "front", ("load-1",))


def test_a_seed_under_a_second_task_was_sent_twice_unless_its_server_came_anew() -> None:
    looks = [slots(3.5, (5001, 0.0, 64), task=7), slots(4.5, (5001, 0.0, 64), task=9)]
    assert judged(answered(1), *looks)["twice"].outcome is Outcome.FAIL
    anew = event("restart", 4.0, role="backend", was_pid=7, is_pid=8)
    assert "twice" not in judged(answered(1), *looks, anew)


def test_what_was_not_seen_or_is_old_is_not_known() -> None:
    assert judged(answered(1))["requests"].outcome is Outcome.INCONCLUSIVE
    requests = [answered(n) for n in range(9)]
    old = [slots(2.5 * n, (5001, 1.0, 64)) for n in range(9)]
    for look in old:
        look.values["last_tasks"] = [7, 8]
    found = judged(*requests, *old)
    assert set(found) == {"stored", "requests"}
    assert not found["requests"].critical


def test_the_shared_evidence_is_left_as_it_was() -> None:
    run: Evidence = evidence(*healthy())
    before = repr(run.records)
    adjudicate("delivery", run)
    assert repr(run.records) == before
