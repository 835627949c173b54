"""Every response of the public fault cases comes to what its facts demand."""

import json
from typing import Any

import pytest
from caseinputs import INPUTS
from responses import JSON, MS, events, read, replay, text

from soakproof.records import Exchange, Failure, decode, encode

# file -> outcome or failure, text, finish reason, names of notes, other fields
STREAMS: dict[str, tuple[str, str, str | None, set[str], dict[str, Any]]] = {
    "20-wedge-mid-decode.script.json": (
        "stall",
        "Once the index is built, every",
        None,
        set(),
        {"pings": 120, "token_events": 7, "last_token_ns": 200 * MS, "done_ns": 60_200 * MS},
    ),
    "21-proxy-ping-hides-stall.script.json": (
        "stall",
        "Step one",
        None,
        set(),
        {"pings": 90, "token_events": 2, "done_ns": 60_200 * MS},
    ),
    "21-proxy-ping-long-prefill-ok.script.json": (
        "ok",
        "All good. Bye",
        "stop",
        set(),
        {"pings": 45, "first_token_ns": 45_450 * MS, "first_byte_ns": 1_000 * MS, "completion_tokens": 4},
    ),
    "22-bare-comment-pings.sse": (
        "ok",
        "Hi there",
        "stop",
        set(),
        {"pings": 5, "token_events": 2, "prompt_tokens": 20, "completion_tokens": 4, "cached_tokens": 0},
    ),
    "23-error-field-line.sse": (
        "context",
        "",
        None,
        {"unknown_fields", "done_without_finish"},
        {"done_marker": True, "token_events": 0},
    ),
    "25-done-synthesised-by-proxy.sse": (
        "cut",
        "The report has three par",
        None,
        {"done_without_finish"},
        {"done_marker": True},
    ),
    "26-error-in-200-stream.sse": ("context", "", None, {"done_without_finish"}, {"status": 200}),
    "26-error-type-fields.sse": ("context", "", None, set(), {"parse_errors": 0}),
    "27-finish-empty-string.sse": ("ok", " Hello there!", "stop", {"finish_reason_empty"}, {}),
    "27-finish-null-to-the-end.sse": (
        "protocol",
        "It is sunny",
        None,
        {"done_without_finish", "finish_reason_null"},
        {},
    ),
    "28-leading-empty-choices.sse": ("ok", "ok", "stop", set(), {"empty_events": 3}),
    "28-usage-chunk-variants.sse": (
        "ok",
        "ab",
        "stop",
        set(),
        {"prompt_tokens": 20, "completion_tokens": 4, "cached_tokens": 0},
    ),
    "29-one-byte-chunks.script.json": ("ok", "你好世界 🌍 café", "stop", set(), {}),
    "29-utf8-split.script.json": ("ok", "你好世界 🌍 café", "stop", set(), {}),
    "31-unicode-line-separators.sse": ("ok", "line one\u2028line two\u2029end\x85.", "stop", set(), {}),
    "32-cr-only.sse": ("ok", "cr", "stop", set(), {}),
    "32-crlf-split-at-boundary.script.json": ("ok", "crlf works", "stop", set(), {"token_events": 2}),
    "32-no-space-bom-multiline.sse": ("ok", "no space two lines", "stop", set(), {"token_events": 2}),
    # No blank line ever comes, so the standard has no event in it: told as that, not as an empty answer.
    "32-single-newline-frames.sse": ("protocol", "", None, set(), {"leftover_bytes": 511}),
    "33-one-line-140-kb.sse": ("ok", "fine", "stop", set(), {"token_events": 2}),
    "34-id-and-created-change.sse": ("ok", "Understood", "stop", {"id_changed", "created_changed"}, {}),
    "38-router-proxy-error.http": ("http_status", "", None, {"proxy_error"}, {"status": 500}),
    "40-buffered-delivery.script.json": (
        "ok",
        "".join(f"w{n} " for n in range(80)),
        "stop",
        {"buffered"},
        {"token_events": 80, "completion_tokens": 80, "widest_gap_ns": 0},
    ),
    "43-grammar-abort-kills-server.script.json": ("reset", '{"', None, set(), {"token_events": 1}),
    "46-reasoning-field-variants.sse": ("ok", '{"a":1}', "stop", set(), {"reasoning": "think more "}),
    "49-html-instead.http": ("protocol", "", None, {"content_type", "html"}, {"status": 200}),
    "49-metrics-501.http": ("http_status", "", None, set(), {"status": 501}),
    "49-router-needs-model.http": ("configuration", "", None, set(), {"status": 400}),
    "57-evicted-mid-stream.http": ("reset", "Paris has many", None, set(), {"token_events": 3}),
    "71-slow-body.script.json": (
        "ok",
        "".join(f" t{n}" for n in range(10)),
        "stop",
        set(),
        {"headers_ns": 50 * MS, "widest_gap_ns": 1_000 * MS, "widest_gap_at": 1},
    ),
    "72-accepts-never-answers.script.json": (
        "headers_timeout",
        "",
        None,
        set(),
        {"status": None, "first_token_ns": None},
    ),
    "76-reasoning-first.script.json": (
        "ok",
        "\n\nAnswer",
        "stop",
        set(),
        {
            "first_token_ns": 2_050 * MS,
            "first_content_ns": 6_090 * MS,
            "first_visible_ns": 6_130 * MS,
            "completion_tokens": 104,
        },
    ),
    "77-early-role-chunk.script.json": (
        "ok",
        "First second",
        "stop",
        set(),
        {"first_byte_ns": 5 * MS, "first_token_ns": 12_005 * MS, "widest_gap_ns": 30 * MS},
    ),
    "77-role-only-stream.script.json": (
        "empty",
        "",
        "stop",
        set(),
        {"first_token_ns": None, "last_token_ns": None, "token_events": 0},
    ),
    "78-multi-token-chunks.script.json": (
        "ok",
        "".join(f"aa{n} bb{n} cc{n} dd{n} " for n in range(25)),
        "stop",
        set(),
        {"token_events": 25, "completion_tokens": 104},
    ),
    "78-no-usage.script.json": (
        "ok",
        "".join(f"aa{n} bb{n} " for n in range(5)),
        "stop",
        set(),
        {"token_events": 5, "completion_tokens": None, "prompt_tokens": None, "usage": None},
    ),
}
# file -> outcome or failure, beginning of the text, finish reason, names of notes, completion tokens
ANSWERS: dict[str, tuple[str, str, str, set[str], int | None]] = {
    "41-fenced-and-broken.json": ("ok", "```json\n{\n", "stop", set(), None),
    "41-fenced-but-valid.json": ("ok", "```json\n{", "stop", set(), None),
    "41-nan-dup-key.json": ("ok", '{"year": 1995, "year": 1996', "stop", set(), None),
    "41-trailing-prose.json": ("ok", '{"languages"', "stop", set(), None),
    "45-truncated-but-stop.json": ("ok", '{"languages"', "stop", {"stop_at_limit"}, 20),
    "45-truncated-length.json": ("ok", '{"languages"', "length", set(), 20),
    "46-reasoning-eats-budget.json": ("budget", "", "length", set(), 512),
    "81-probe-under-reasoning-floor.json": ("budget", "", "length", set(), 10),
}


def outcome(exchange: Exchange) -> str:
    return exchange.failure.value if exchange.failure else exchange.outcome


def noted(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


def test_every_stream_is_expected_to_come_to_something() -> None:
    found = {p.name for p in INPUTS.iterdir() if p.name.endswith((".sse", ".script.json", ".http"))}
    assert found == set(STREAMS)


@pytest.mark.parametrize("name", STREAMS)
def test_stream(name: str) -> None:
    expected, words, finish, notes, fields = STREAMS[name]
    exchange = replay(name)
    assert (outcome(exchange), exchange.text, exchange.finish_reason) == (expected, words, finish)
    assert noted(exchange) == notes
    assert {field: getattr(exchange, field) for field in fields} == fields
    assert bool(exchange.reason) == (exchange.outcome != "ok")
    assert decode(encode(exchange)) == exchange


def test_the_long_line_is_whole() -> None:
    assert replay("33-one-line-140-kb.sse").reasoning == "ab cd " * 23_900


def documents(name: str) -> list[dict[str, Any]]:
    """The request and response pairs of a file, whatever it calls them."""
    found = json.loads((INPUTS / name).read_text())
    pairs: list[dict[str, Any]] = found.get("pairs") or found.get("cases") or [found]
    return pairs


def read_answer(pair: dict[str, Any]) -> Exchange:
    asked = pair.get("request") or pair.get("probe") or {"max_tokens": 512}
    body = json.dumps(pair["response"]).encode()
    return read(body, headers=JSON, stream=False, max_tokens=asked["max_tokens"])


@pytest.mark.parametrize("name", ANSWERS)
def test_answer_that_was_not_streamed(name: str) -> None:
    expected, words, finish, notes, tokens = ANSWERS[name]
    exchange = read_answer(documents(name)[0])
    assert (outcome(exchange), exchange.finish_reason) == (expected, finish)
    assert exchange.text.startswith(words)
    assert bool(exchange.text) == bool(words)
    assert (noted(exchange), exchange.completion_tokens) == (notes, tokens)
    assert (exchange.first_token_ns, exchange.last_token_ns, exchange.done_ns) == (None, None, 3)


@pytest.mark.parametrize(
    "name",
    [
        "10-semantic-bleed-no-nonce.json",
        "10-verbatim-swap-four-clients.json",
        "42-schema-silently-dropped.json",
    ],
)
def test_a_wrong_answer_is_still_an_answer(name: str) -> None:
    """What it says is for a scenario to judge."""
    for pair in documents(name):
        exchange = read_answer(pair)
        assert exchange.outcome == "ok"
        assert exchange.text == pair["response"]["choices"][0]["message"]["content"]


def with_numbers(usage: Any = None, timings: Any = None) -> Exchange:
    last = {"choices": [], "usage": usage, "timings": timings}
    return read(events(text("a"), {"choices": [{"delta": {}, "finish_reason": "stop"}]}, last, "[DONE]"))


@pytest.mark.parametrize("case", documents("47-null-and-absurd-timings.json"))
def test_null_and_absurd_timings_stay_raw(case: dict[str, Any]) -> None:
    exchange = with_numbers(timings=case.get("timings"))
    assert exchange.outcome == "ok"
    assert exchange.timings == (case.get("timings") or None)
    assert exchange.completion_tokens == case.get("timings", {}).get("predicted_n")


def test_a_bare_nan_does_not_lose_the_event() -> None:
    body = (INPUTS / "47-bare-nan.json.txt").read_text().strip()
    exchange = read(events(text("a"), {"choices": [{"delta": {}, "finish_reason": "stop"}]}, body, "[DONE]"))
    assert (exchange.outcome, exchange.parse_errors, noted(exchange)) == ("ok", 0, {"not_strict_json"})
    assert exchange.completion_tokens == 0
    assert b'"predicted_per_second":null' in encode(exchange)


@pytest.mark.parametrize(("call", "cached"), [("call1", 0), ("call2", 17_400)])
def test_the_prompt_is_the_cached_part_and_the_rest(call: str, cached: int) -> None:
    numbers = documents("48-uncached-only-counters.json")[0][call]
    for exchange in (with_numbers(**numbers), with_numbers(timings=numbers["timings"])):
        assert (exchange.prompt_tokens, exchange.cached_tokens) == (18_600, cached)
        assert noted(exchange) == set()


def test_no_reuse_shows_in_the_counts() -> None:
    numbers = documents("16-hybrid-no-reuse.json")[0]
    read_back = {
        name: with_numbers(timings=numbers[name]["timings"]) for name in ("second", "good_in_memory")
    }
    assert {n: e.cached_tokens for n, e in read_back.items()} == {"second": 0, "good_in_memory": 5888}
    assert {e.prompt_tokens for e in read_back.values()} == {5892}


def test_failures_are_named_for_what_they_are() -> None:
    assert replay("38-router-proxy-error.http").reason.startswith("status 500: proxy error")
    assert "no blank line" in replay("32-single-newline-frames.sse").reason
    assert replay("23-error-field-line.sse").failure is Failure.CONTEXT
