"""Cuts of a body change nothing in its record, and no body at all makes a reading raise."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from responses import DONE, EVENT_STREAM, JSON, ROLE, STOP, answer, opened, text

from soakproof.exchange import Reading
from soakproof.records import Exchange, decode, encode

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
deltas = st.fixed_dictionaries(
    {},
    optional={
        "content": values,
        "reasoning": values,
        "tool_calls": values,
        "refusal": values,
        "role": values,
    },
)
entries = st.fixed_dictionaries(
    {}, optional={"index": values, "delta": deltas | values, "finish_reason": values}
)
documents = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(entries | values, max_size=3) | values,
        "usage": st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens"]), values) | values,
        "timings": st.dictionaries(st.sampled_from(["cache_n", "prompt_n", "predicted_ms"]), values) | values,
        "error": values,
        "id": values,
        "model": values,
        "detail": values,
    },
)
healthy = st.sampled_from([json.dumps(item) for item in (ROLE, text("Hi"), text("é🌍"), STOP)] + [DONE])
lines = st.one_of(
    healthy.map(lambda line: f"data: {line}\n\n".encode()),
    documents.map(lambda d: f"data: {json.dumps(d, default=str)}\n\n".encode()),
    st.sampled_from(
        [b": ping\n\n", b"\r\n\r\n", b"event: error\n", b"error: x\n\n", b"{}", b'{"error":"x"}\n\n', b"\xff"]
    ),
    st.binary(max_size=8),
)
bodies = st.lists(lines, max_size=12).map(b"".join)
statuses = st.sampled_from([200, 200, 200, 204, 404, 503])


def record(pieces: list[bytes], status: int, stream: bool) -> Exchange:
    made = Reading(opened(stream=stream))
    made.headers(1, status, EVENT_STREAM if stream else JSON)
    for piece in pieces:
        made.body(2, piece)
    return made.end(3)


def same(one: Exchange, other: Exchange) -> bool:
    """Equal as they are written: NaN in a raw usage is not equal to itself."""
    return encode(one) == encode(other)


@settings(max_examples=100)
@given(bodies, statuses, st.booleans(), st.lists(st.integers(1, 2000), max_size=10))
def test_cuts_change_nothing_and_nothing_raises(
    body: bytes, status: int, stream: bool, cuts: list[int]
) -> None:
    whole = record([body], status, stream)
    at = sorted({0, len(body), *(c for c in cuts if c < len(body))})
    assert same(record([body[a:b] for a, b in pairwise(at)], status, stream), whole)
    assert same(record([body[n : n + 1] for n in range(len(body))], status, stream), whole)
    written = decode(encode(whole))
    assert isinstance(written, Exchange)
    assert written.outcome == whole.outcome
    assert (whole.outcome == "ok") == (whole.failure is None)
    if whole.outcome == "ok":
        assert 200 <= status < 300
        assert whole.finish_reason
        assert whole.text or whole.tool_calls


@given(st.lists(st.text(max_size=8), min_size=1, max_size=8), st.lists(st.integers(1, 4000), max_size=10))
def test_every_text_comes_through(contents: list[str], cuts: list[int]) -> None:
    body = answer(*contents)
    at = sorted({0, len(body), *(c for c in cuts if c < len(body))})
    exchange = record([body[a:b] for a, b in pairwise(at)], 200, True)
    assert exchange.text == "".join(contents)
    assert exchange.token_events == sum(map(bool, contents))


@given(st.binary(max_size=400), statuses, st.booleans())
def test_random_bytes_are_a_failure_told(body: bytes, status: int, stream: bool) -> None:
    exchange = record([body], status, stream)
    assert exchange.outcome == "fail"
    assert exchange.reason
    encode(exchange)


@pytest.mark.parametrize("path", sorted(INPUTS.glob("*.sse")), ids=lambda p: p.name)
def test_the_written_cases_in_every_cut(path: Path) -> None:
    body = path.read_bytes()
    whole = record([body], 200, True)
    for size in (1, 2, 3, 7, 64) if len(body) < 10_000 else (1, 1000):
        pieces = [body[start : start + size] for start in range(0, len(body), size)]
        assert record(pieces, 200, True) == whole


def test_times_are_all_that_a_cut_may_change() -> None:
    body = answer("Hi", " there")
    made = Reading(opened())
    made.headers(1, 200, EVENT_STREAM)
    for number in range(len(body)):
        made.body(number, body[number : number + 1])
    late = made.end(9999)
    times: dict[str, Any] = {
        name: None for name in Exchange.__struct_fields__ if name.endswith("_ns") and name != "done_ns"
    }
    times |= {"due_ns": 0, "sent_ns": 0, "done_ns": 0, "widest_gap_at": None}
    assert replace(late, **times) == replace(record([body], 200, True), **times)
