"""Protocol: each violation fails, each doubt is inconclusive, and what healthy servers do is only told."""

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from responses import DONE, EVENT_STREAM, JSON, STOP, answer, chunk, events, read, text

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge import Outcome
from soakproof.judge.claims import about, oddities, suspects
from soakproof.reading.oddities import ODDITIES, split
from soakproof.records import Exchange, Failure
from soakproof.testing.evidence import adjudicate, evidence, exchange

SOURCE = Path(__file__).parents[2] / "src" / "soakproof"
LLAMA = {"build": "b11434", "recipe": "llamacpp"}
OTHER = {"build": None}  # vLLM, Ollama, LM Studio: no /props


def timings(
    n: int = 40, ms: float = 800.0, prompt: int = 20, cached: int = 13, **more: Any
) -> dict[str, Any]:
    return {
        "cache_n": cached,
        "prompt_n": prompt,
        "prompt_ms": 90.0,
        "predicted_n": n,
        "predicted_ms": ms,
    } | more


def usage(n: int = 40, prompt: int = 33, cached: int | None = 13) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": n, "total_tokens": prompt + n, **details}


def answered(i: int = 0, **more: Any) -> Exchange:
    """A whole answer of llama.cpp behind Lemonade: its counts and times agree, and with ours."""
    values: dict[str, Any] = {
        "usage": usage(),
        "timings": timings(),
        "prompt_tokens": 33,
        "completion_tokens": 40,
        "cached_tokens": 13,
        "token_events": 39,
        "empty_events": 1,
        "pings": 2,
        "done_marker": True,
        "notes": ("created_changed",),
    }
    return exchange(f"x{i}", at=2.0 * i, iteration=i, **{**values, **more})


def judged(*exchanges: Exchange, target: dict[str, Any] | None = None, **options: Any):
    run = evidence(list(exchanges), target=LLAMA if target is None else target)
    return adjudicate("protocol", run, **options)


def test_what_llama_cpp_behind_lemonade_sends_is_only_told() -> None:
    found = judged(*(answered(i) for i in range(20)))
    assert set(found) == {"created_changed", "answers"}
    assert found["created_changed"].outcome is Outcome.PASS
    assert not found["created_changed"].critical
    assert (
        found["answers"].answer
        == "In 20 answered exchanges: 1 sort of oddity, in 20 exchanges (created_changed)."
    )


def test_healthy_oddities_of_single_answers_are_passed_over() -> None:
    """A full cache hit, one token, a rate of null, a stop by chance at the limit, a stutter of our own."""
    one = {"usage": usage(1, cached=32), "completion_tokens": 1, "cached_tokens": 32, "token_events": 1}
    full = {"usage": usage(64), "completion_tokens": 64, "token_events": 63, "timings": timings(64)}
    run = [answered(i) for i in range(30)]
    run.append(answered(30, timings=timings(1, 0.028, 1, 32, predicted_per_second=None), **one))
    run.append(answered(31, notes=("stop_at_limit: 64 of 64 tokens",), **full))
    run.append(answered(32, notes=("buffered: made in 730 ms, arrived within 139 ms",)))
    run.append(answered(33, notes=("replacement_character",)))
    run.append(
        answered(34, cancelled_ns=70 * NS, usage=None, timings=None, done_marker=False, leftover_bytes=20)
    )
    assert {f.outcome for f in judged(*run).values()} == {Outcome.PASS}


@pytest.mark.parametrize(
    "fields",
    [
        {"timings": None, "notes": ()},  # vLLM, LM Studio
        {"timings": None, "usage": usage(cached=None), "cached_tokens": None, "notes": ()},  # Ollama
        {"usage": None, "prompt_tokens": None, "completion_tokens": None, "timings": None, "notes": ()},
    ],
    ids=["no timings", "no cached tokens", "no counts at all"],
)
def test_what_another_server_never_sends_is_not_missed(fields: dict[str, Any]) -> None:
    assert set(judged(*(answered(i, **fields) for i in range(9)), target=OTHER)) == {"answers"}


VIOLATIONS = {
    "finish_without_done": read(answer("Hi", end=[STOP])),
    "done_without_finish": read(answer("Hi", end=[DONE])),
    "done_variant": read(answer("Hi", end=[STOP, "[done]"])),
    "data_after_done": read(answer("Hi", end=[STOP, DONE, text("more")])),
    "text_after_finish": read(events(text("H"), STOP, text("i"), DONE)),
    "second_finish_reason": read(events(text("Hi"), STOP, STOP | {"choices": [
        {"index": 0, "delta": {}, "finish_reason": "length"}]}, DONE)),
    "finish_reason_not_text": read(events(
        text("Hi"), {"choices": [{"index": 0, "finish_reason": 7}]}, STOP, DONE)),
    "finish_reason_missing": read(b'{"choices":[{"index":0,"message":{"content":"Hi"},"finish_reason":""}]}',
                                  headers=JSON, stream=False),
    "unfinished_event": read(answer("Hi", end=[STOP]) + b"data: [DONE]\n"),
    "not_strict_json": read(answer("Hi").replace(b'"id":', b'"x": NaN, "id":')),
    "parse_error": read(answer("Hi").replace(b"data: [DONE]", b"data: {oops\n\ndata: [DONE]")),
    "invalid_utf8": read(answer("Hi").replace(b'"Hi"', b'"H\xff"')),
    "surrogates": read(answer("Hi").replace(b'"Hi"', b'"H\\ud83d"')),
    "unframed_error": read(answer("Hi", end=[]) + b'{"error":{"message":"gone"}}'),
    "html": read(b"<html>gone</html>", status=502, headers={"content-type": "text/html"}),
    "content_type": read(answer("Hi"), headers={"content-type": "text/plain"}),
    "content_encoding": read(answer("Hi"), headers=EVENT_STREAM | {"content-encoding": "gzip"}),
    "bytes_after_end": replace(read(answer("Hi")), notes=("bytes_after_end",)),
    "finish_without_call": read(answer("Hi", end=[chunk(finish="tool_calls"), DONE])),
    "completions_style": read(events({"choices": [{"index": 0, "text": "Hi"}]}, STOP, DONE)),
}  # fmt: skip


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_fails_and_says_where(name: str) -> None:
    found = judged(VIOLATIONS[name], answered(1), target=OTHER)[name]
    assert found.outcome is Outcome.FAIL
    assert found.critical
    assert found.exchanges == ("load-1",)
    assert "in 1 of 2 exchanges; first: isolation 3 ask" in found.answer
    assert found.fault == about(name).fault


DOUBTS: dict[str, list[dict[str, Any]]] = {
    "usage_missing": [{"usage": None}],
    "timings_missing": [{"timings": None}],
    "cached_missing": [{"usage": usage(cached=None)}],
    "bad_count": [{"notes": ("bad_count: usage.prompt_tokens_details.cached_tokens = -5",)}],
    "cached_counts_disagree": [{"notes": ("cached_counts_disagree: usage 30, timings 13",)}],
    "cached_over_prompt": [{"cached_tokens": 34}],
    "completion_counts_disagree": [{"usage": usage(39), "completion_tokens": 39}],
    "total_disagrees": [{"usage": usage() | {"total_tokens": 40}}],
    "fewer_tokens_than_events": [{"completion_tokens": 20, "usage": usage(20), "timings": timings(20)}],
    "timings_null": [{"timings": timings(predicted_ms=None)}],
    "timings_absurd": [
        {"timings": timings(ms=0.01)},
        {"timings": timings(ms=-3.0)},
        {"timings": timings(ms=0)},
        {"timings": timings(prompt=2000, prompt_ms=0.001)},
    ],
    "timings_over_clock": [{"timings": timings(ms=5000.0)}],
    "finish_reason_unknown": [{"notes": ("finish_reason_unknown: pause_turn",)}],
    "finish_reason_filtered": [{"notes": ("finish_reason_filtered",)}],
    "role_not_assistant": [{"notes": ("role_not_assistant: user",)}],
    "over_max_tokens": [{"notes": ("over_max_tokens: 80 of 64 tokens",)}],
}


@pytest.mark.parametrize(("name", "fields"), [(name, f) for name, several in DOUBTS.items() for f in several])
def test_numbers_that_contradict_each_other_are_inconclusive(name: str, fields: dict[str, Any]) -> None:
    found = judged(*(answered(i) for i in range(3)), answered(3, **fields))
    assert found[name].outcome is Outcome.INCONCLUSIVE
    assert found[name].exchanges == ("x3",)
    assert {f.subject for f in found.values() if f.critical} == {name, "answers"} - (
        {"answers"} if not found["answers"].critical else set()
    )


def test_rates_that_their_own_tokens_and_time_contradict_are_doubtful() -> None:
    fitting, tiny = {"predicted_per_second": 49.0}, {"prompt_per_second": 1e6}
    healthy = [answered(i, timings=timings(**fitting)) for i in range(9)]
    short = [answered(10 + i, timings=timings(prompt=1, prompt_ms=0.02, **tiny)) for i in range(4)]
    assert "rates_disagree" not in judged(*healthy, *short)
    wrong = [answered(20 + i, timings=timings(predicted_per_second=150.0)) for i in range(3)]
    assert judged(*healthy, *wrong[:2])["rates_disagree"].outcome is Outcome.PASS
    assert judged(*healthy, *wrong)["rates_disagree"].outcome is Outcome.INCONCLUSIVE


def test_builds_that_alternate_are_doubtful_and_a_new_one_is_not() -> None:
    def builds(*told: str | None) -> dict[str, Any]:
        return judged(*(answered(i, fingerprint=build) for i, build in enumerate(told)))

    assert read(answer("Hi").replace(b'"id":', b'"system_fingerprint": "b1", "id":')).fingerprint == "b1"
    for healthy in (["b1"] * 3, ["b1", "b1", "b2"], [None, None], ["b1", None, "b1"], ["b1", "b2", "b3"]):
        assert "builds_alternate" not in builds(*healthy)
    found = builds("b1", "b2", "b1", "b1")["builds_alternate"]
    assert (found.outcome, found.exchanges) == (Outcome.INCONCLUSIVE, ("x1",))


def test_marks_of_the_chat_template_in_texts_are_doubtful() -> None:
    clean = [answered(i, text="a < b | c") for i in range(3)]
    marked = [answered(i, text="well.<|im_end|>\n<|im_start|>assistant\nAnd") for i in (3, 4)]
    found = judged(*clean, *marked)["template_token"]
    assert (found.outcome, found.exchanges) == (Outcome.INCONCLUSIVE, ("x3", "x4"))
    assert "<|im_end|>" in found.answer
    assert judged(*clean, marked[0])["template_token"].outcome is Outcome.PASS
    assert "template_token" not in judged(*clean)


def test_finish_reasons_that_differ_in_capitals_alone_are_doubtful() -> None:
    all_alike = [answered(i, finish_reason="STOP") for i in range(3)]
    assert "finish_reason_case" not in judged(*all_alike, answered(3, finish_reason="length"))
    found = judged(*all_alike, answered(3, finish_reason="stop"))["finish_reason_case"]
    assert (found.outcome, found.exchanges) == (Outcome.INCONCLUSIVE, ("x3",))


@pytest.mark.parametrize("missing", ["usage", "timings"])
def test_what_llama_cpp_always_sends_is_missed_in_all_answers_too(missing: str) -> None:
    found = judged(*(answered(i, **{missing: None}) for i in range(5)))
    assert found[f"{missing}_missing"].outcome is Outcome.INCONCLUSIVE
    assert found[f"{missing}_missing"].figures[0].value == 5


def hit(i: int, ms: float, cold: bool = False) -> Exchange:
    """A prompt of 1,200 tokens, restored or not, whose work took ``ms``."""
    cached, new = (0, 1200) if cold else (1190, 10)
    return answered(
        i,
        timings=timings(prompt=new, cached=cached, prompt_ms=ms),
        usage=usage(prompt=1200, cached=cached),
        prompt_tokens=1200,
        cached_tokens=cached,
        took=60.0,
    )


def test_hits_that_take_as_long_as_cold_prompts_are_denied() -> None:
    colds = [hit(i, 400.0 + i, cold=True) for i in range(3)]
    denied = judged(*colds, *(hit(i, 390.0) for i in range(3, 9)))["cached_denied"]
    assert denied.outcome is Outcome.INCONCLUSIVE
    assert denied.figures[0].value == denied.figures[0].n == 6


def test_hits_beside_a_neighbours_prompt_are_not_denied() -> None:
    """One batch holds the prompts of both slots, so a hit can take as long as a neighbour's cold prompt."""
    colds = [hit(i, 400.0, cold=True) for i in range(3)]
    slow = [hit(i, 500.0 if i % 2 else 12.0) for i in range(3, 15)]
    found = judged(*colds, *slow)["cached_denied"]
    assert (found.outcome, found.critical) == (Outcome.PASS, False)
    assert "cached_denied" not in judged(*colds, *(hit(i, 12.0) for i in range(3, 9)))


def test_few_denied_hits_are_doubtful_where_no_other_prompt_was_in_their_way() -> None:
    colds = [hit(2 * i, 400.0, cold=True) for i in range(3)]
    hits = [hit(20 + 40 * i, 390.0 if i < 2 else 12.0) for i in range(9)]
    found = judged(*colds, *hits)
    assert found["cached_denied"].outcome is Outcome.PASS
    alone = found["cached_denied_alone"]
    assert (alone.outcome, alone.exchanges) == (Outcome.INCONCLUSIVE, ("x20", "x60"))
    assert judged(*colds, *hits[1:])["cached_denied_alone"].outcome is Outcome.PASS  # one is chance
    beside = [hit(21 + 40 * i, 400.0, cold=True) for i in range(9)]
    assert "cached_denied_alone" not in judged(*colds, *hits, *beside)


def test_buffered_delivery_and_false_stops_weigh_when_they_are_the_rule() -> None:
    buffered = [answered(i, notes=("buffered: made in 900 ms, arrived within 3 ms",)) for i in range(4)]
    assert judged(*buffered)["buffered"].outcome is Outcome.INCONCLUSIVE
    at_limit = {"completion_tokens": 64, "usage": usage(64), "timings": timings(64), "token_events": 63}
    false = [answered(i, notes=("stop_at_limit: 64 of 64 tokens",), **at_limit) for i in range(4)]
    assert judged(*false)["stop_at_limit"].outcome is Outcome.FAIL


def test_a_server_that_claims_more_speed_than_came_is_doubted() -> None:
    slow = [answered(i, took=9.0, timings=timings(ms=800.0)) for i in range(5)]
    assert judged(*slow)["timings_under_clock"].outcome is Outcome.INCONCLUSIVE
    one = [*slow[:1], *(answered(i) for i in range(1, 9))]
    assert judged(*one)["timings_under_clock"].outcome is Outcome.PASS


def test_an_answer_whose_response_never_ended_fails() -> None:
    found = judged(answered(0, notes=("reset_after_done: 3 bytes are missing",)))["reset_after_done"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "front")
    assert judged(answered(0, notes=("stopped_after_done",)))["stopped_after_done"].outcome is Outcome.PASS
    after_error = exchange(
        "x0", outcome="fail", failure=Failure.ERROR_EVENT, status=200, notes=("reset_after_error",)
    )
    assert judged(after_error)["reset_after_error"].outcome is Outcome.PASS


def test_what_a_policy_allows_is_told() -> None:
    found = judged(VIOLATIONS["done_variant"], target=OTHER, allowed=["done_variant"])["done_variant"]
    assert (found.outcome, found.critical, found.strength) == (Outcome.PASS, False, "told only")


def test_without_an_answer_nothing_passes() -> None:
    assert judged()["answers"].outcome is Outcome.INCONCLUSIVE
    lost = exchange("x0", outcome="fail", failure=Failure.CONNECT)
    assert judged(lost)["answers"].outcome is Outcome.INCONCLUSIVE


def test_hostile_details_are_neutralised() -> None:
    found = judged(answered(0, notes=("refusal: \x1b[2J" + "x" * 5000,)))["refusal"]
    assert "\x1b" not in found.answer
    assert len(found.answer) < 400


def test_every_note_that_reading_can_make_is_in_the_table() -> None:
    """By the source: a note that is added there and has no meaning here is a hole in the table."""
    files = [SOURCE / "exchange.py", *(SOURCE / "reading").glob("*.py")]
    calls = [
        node for file in files for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
    ]
    added = [c.args[0] for c in calls if ast.unparse(c.func).endswith("notes.add")]
    names = {
        c.value
        for arg in added
        for c in ast.walk(arg)
        if isinstance(c, ast.Constant) and isinstance(c.value, str)
    }
    made = {f"{name}_{what}" for name in ("usage", "timings") for what in ("not_object", "not_kept")}
    assert len(names) > 30
    pieces = {"", "error", "done", "_after_", "_not_object", "_not_kept"}  # of names that are put together
    assert names - pieces | made <= set(ODDITIES)


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_note_is_split_and_judged(note: str) -> None:
    name, detail = split(note)
    assert name in note
    assert detail in note
    judged(answered(0, notes=(note,)))


JSON_LIKE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(
    ["prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "prompt_n", "prompt_ms",
     "predicted_n", "predicted_ms", "cache_n"]
)  # fmt: skip


@given(st.dictionaries(KEYS, JSON_LIKE), st.dictionaries(KEYS, JSON_LIKE))
def test_whatever_a_server_sends_as_numbers_never_raises(told: dict[str, Any], timed: dict[str, Any]) -> None:
    for name in oddities(answered(0, usage=told, timings=timed)):
        assert name in ODDITIES
    judged(answered(0, usage=told, timings=timed), answered(1))


FEW = st.none() | st.sampled_from([-1, 0, 1, 7, 8, 9, 60, 64, 65, 100, 2000, 1e16, "8", True]) | st.floats()
TIMED = [f"{part}_{of}" for part in ("prompt", "predicted") for of in ("n", "ms", "per_second")]
COUNTED = ["prompt_tokens", "completion_tokens", "total_tokens"]


@given(
    timings=st.none() | st.dictionaries(st.sampled_from(TIMED), FEW),
    usage=st.none() | st.dictionaries(st.sampled_from(COUNTED), FEW),
    counts=st.fixed_dictionaries(
        {
            **dict.fromkeys(
                ("prompt_tokens", "completion_tokens", "cached_tokens"), st.none() | st.integers(0, 90)
            ),
            **dict.fromkeys(("token_events", "leftover_bytes"), st.integers(0, 90)),
            "last_token_ns": st.none() | st.integers(0, 20 * NS),
            "done_marker": st.booleans(),
            "stream": st.booleans(),
            "finish_reason": st.sampled_from([None, "stop"]),
            "failure": st.sampled_from([None, None, Failure.PROTOCOL]),
            "text": st.sampled_from(["", "Hi", "Hi <|im_end|>"]),
        }
    ),
)
def test_what_has_an_oddity_is_suspected(timings: Any, usage: Any, counts: dict[str, Any]) -> None:
    one = answered(0, timings=timings, usage=usage, **counts)
    assert suspects(Table(Exchange, (one,)))[0] or not set(oddities(one)) - {"created_changed"}


def test_what_is_sound_is_not_suspected() -> None:
    assert not suspects(Table(Exchange, (answered(0),))).any()
