"""Odd but healthy streams, and answers that are not streamed, are read for what they mean."""

from typing import Any

import orjson
import pytest
from dialects import HEALTHY, USAGE
from responses import DONE, JSON, STOP, answer, chunk, events, read, text

from soakproof.records import Exchange, Failure


def names(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_dialect(name: str) -> None:
    body, words, notes, fields = HEALTHY[name]
    exchange = read(body)
    assert (exchange.outcome, exchange.failure, exchange.reason) == ("ok", None, "")
    assert (exchange.text, exchange.parse_errors) == (words, 0)
    assert names(exchange) == notes
    assert {field: getattr(exchange, field) for field in fields} == fields


@pytest.mark.parametrize(
    "content_type",
    [
        "text/event-stream; charset=utf-8",
        "TEXT/EVENT-STREAM",
        'text/event-stream;Charset="UTF8"',
        "text/event-stream; charset=us-ascii",
        "text/event-stream; charset=",
        "text/event-stream; charset=utf-8, text/event-stream",
    ],
)
def test_content_types_that_are_right(content_type: str) -> None:
    assert names(read(answer("Hi"), headers={"content-type": content_type})) == set()


@pytest.mark.parametrize(
    ("headers", "note"),
    [
        ({}, "content_type: missing"),
        ({"content-type": "text/plain"}, "content_type: text/plain"),
        ({"content-type": "application/json"}, "content_type: application/json"),
        (
            {"content-type": "text/event-stream; charset=utf-16"},
            "content_type: text/event-stream; charset=utf-16",
        ),
    ],
)
def test_a_wrong_content_type_is_told_and_the_body_is_read(headers: dict[str, str], note: str) -> None:
    exchange = read(answer("Hi"), headers=headers)
    assert (exchange.outcome, exchange.text, exchange.notes) == ("ok", "Hi", (note,))


def test_a_route_is_kept_and_cannot_steer_a_terminal() -> None:
    headers = {"content-type": "text/event-stream", "x-lemonade-route": "exact\x1b[2J\u202e" + "x" * 500}
    route = read(answer("Hi"), headers=headers).route
    assert route is not None
    assert route.startswith("exact\\x1b[2J\\u202e")
    assert len(route) == 200
    assert read(answer("Hi")).route is None


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"message": {"content": "Hi"}}, "Hi"),
        ({"text": "Hi"}, "Hi"),
        ({"message": {"content": [{"type": "text", "text": "Hi"}]}}, "Hi"),
        ({"message": {"content": None, "tool_calls": [{"function": {"name": "go", "arguments": "{}"}}]}}, ""),
    ],
)
def test_answers_that_are_not_streamed(choice: dict[str, Any], words: str) -> None:
    body = orjson.dumps({"choices": [choice | {"finish_reason": "stop"}], "model": "m1", "usage": USAGE})
    for pieces in (
        [body],
        [body[n : n + 1] for n in range(len(body))],
        [b"\n ", body],
        [b"\xef\xbb", b"\xbf", body],
    ):
        exchange = read(pieces, headers=JSON, stream=False)
        assert (exchange.outcome, exchange.text, exchange.completion_tokens) == ("ok", words, 2)
        assert (exchange.token_events, exchange.first_token_ns, exchange.done_marker) == (0, None, False)


def test_an_answer_in_another_role_is_told() -> None:
    asked = chunk({"role": "user", "content": None})
    assert names(read(events(asked, text("Hi"), STOP, DONE))) == {"role_not_assistant"}
    assert names(read(answer("Hi"))) == set()


@pytest.mark.parametrize("stream", [True, False])
def test_choices_that_nobody_asked_for_are_told_as_that(stream: bool) -> None:
    other = {"index": 1, "message": {"content": "Hi"}, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    body = events({"choices": [other]}, DONE) if stream else orjson.dumps({"choices": [other]})
    exchange = read(body, stream=stream)
    assert exchange.failure is Failure.PROTOCOL
    assert exchange.reason == "no choice of index 0, which was asked for: only others came (index 1)"
