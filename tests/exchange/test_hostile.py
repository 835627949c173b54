"""Whatever a server sends, a reading makes a record of bounded size that can be written."""

import json

import pytest
from responses import DONE, EVENT_STREAM, JSON, ROLE, STOP, answer, chunk, events, opened, read, text

from soakproof.exchange import Reading
from soakproof.reading.lenient import parse
from soakproof.reading.notes import printable
from soakproof.records import Exchange, Failure, decode, encode


def short(value: object) -> str:
    return str(value)[:12]


DEEP = "[" * 100_000
NESTED = "[" * 900 + "]" * 900


def names(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


def with_usage(usage: str) -> Exchange:
    """A healthy answer whose usage is written so."""
    return read(answer("Hi", end=[STOP, '{"choices":[],"usage":' + usage + "}", DONE]))


@pytest.mark.parametrize(
    "value",
    ["-1", "1e999", "NaN", "nan", "1.5", "true", '"many"', "[]", "{}", "9" * 40, "9" * 5000, "-0.5", '"9e9"'],
)
def test_counts_that_are_no_counts(value: str) -> None:
    exchange = with_usage(f'{{"completion_tokens":{value},"prompt_tokens":9}}')
    assert (exchange.outcome, exchange.completion_tokens, exchange.prompt_tokens) in (
        ("ok", None, 9),
        ("fail", None, None),  # a number of 5000 digits: Python itself refuses to read it
    )
    assert names(exchange) & {"bad_count", "parse_error"}
    assert decode(encode(exchange)).outcome == exchange.outcome  # type: ignore[union-attr]


def test_counts_that_disagree_are_told() -> None:
    last = STOP | {
        "usage": {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 7}},
        "timings": {"cache_n": 30, "prompt_n": 9},
    }
    exchange = read(answer("Hi", end=[last, DONE]))
    assert (exchange.prompt_tokens, exchange.cached_tokens) == (40, 7)
    assert exchange.notes == (
        "prompt_counts_disagree: usage 40, timings 39",
        "cached_counts_disagree: usage 7, timings 30",
    )


def test_timings_without_a_cached_part_tell_no_prompt() -> None:
    exchange = read(answer("Hi", end=[STOP | {"timings": {"prompt_n": 9, "predicted_n": 2}}, DONE]))
    assert (exchange.prompt_tokens, exchange.completion_tokens) == (None, 2)


@pytest.mark.parametrize(
    "usage", ['{"a":' * 40 + "1" + "}" * 40, '{"a":"' + "x" * 20_000 + '"}', '{"a":' + NESTED + "}"]
)
def test_numbers_too_large_or_deep_to_keep(usage: str) -> None:
    exchange = with_usage(usage)
    assert (exchange.outcome, exchange.usage, names(exchange)) == ("ok", None, {"usage_not_kept"})
    encode(exchange)


@pytest.mark.parametrize("field", ["id", "created", "model", "usage", "timings", "error", "choices"])
@pytest.mark.parametrize(
    "value", [NESTED, DEEP, '"\\ud800"', "1e999", "[[1]]", '{"a":[{}]}', "0", '""', "true"]
)
def test_any_value_in_any_field(field: str, value: str) -> None:
    odd = f'{{"choices":[],"{field}":{value}}}'
    exchange = read(events(ROLE, odd, text("Hi"), odd, STOP, DONE))
    assert exchange.text == "Hi"
    assert decode(encode(exchange)).id == exchange.id  # type: ignore[union-attr]


@pytest.mark.parametrize("field", ["code", "type", "status", "detail", "error_code", "error_type", "object"])
@pytest.mark.parametrize(
    "value", [NESTED, '"\\ud800"', "1e999", "-1", "[[1]]", '{"a":[{}]}', "9" * 4000, "true"]
)
def test_any_value_beside_a_message(field: str, value: str) -> None:
    exchange = read(events(f'{{"message":"m","{field}":{value}}}', text("Hi"), STOP, DONE))
    assert exchange.text == "Hi"
    assert decode(encode(exchange)).id == exchange.id  # type: ignore[union-attr]


@pytest.mark.parametrize("key", ["content", "reasoning", "tool_calls", "function_call", "refusal", "role"])
@pytest.mark.parametrize(
    "value", [NESTED, "1", "true", "[null,1,[],{}]", '{"a":1}', '[{"function":{"name":1}}]']
)
def test_any_value_in_any_part_of_a_delta(key: str, value: str) -> None:
    odd = f'{{"choices":[{{"index":0,"delta":{{"{key}":{value}}}}}]}}'
    exchange = read(events(ROLE, odd, text("Hi"), STOP, DONE))
    assert (exchange.outcome, exchange.text) == ("ok", "Hi")
    encode(exchange)


@pytest.mark.parametrize(
    "choice", ["1", "[]", "null", '{"index":[]}', '{"delta":[1]}', '{"index":0,"text":1}']
)
def test_any_value_for_a_choice(choice: str) -> None:
    exchange = read(events(f'{{"choices":[{choice}]}}', text("Hi"), STOP, DONE))
    assert (exchange.outcome, exchange.text) == ("ok", "Hi")


def test_too_many_tool_calls() -> None:
    calls = [{"index": n, "function": {"name": "go"}} for n in range(300)]
    exchange = read(events(chunk({"tool_calls": calls}), chunk(finish="tool_calls"), DONE))
    assert len(json.loads(exchange.tool_calls)) == 256
    assert names(exchange) == {"too_many_tool_calls"}


def test_invalid_bytes_within_a_token_are_the_servers() -> None:
    exchange = read(answer("a~b").replace(b"~", b"\xf0\x9f"))
    assert (exchange.text, exchange.outcome) == ("a\ufffdb", "ok")
    assert exchange.notes == ("invalid_utf8: 1 characters", "replacement_character")
    document = b'{"choices":[{"message":{"content":"a\xffb"},"finish_reason":"stop"}]}'
    assert "invalid_utf8" in names(read(document, headers=JSON, stream=False))


def test_a_replacement_character_that_was_sent_is_told_as_that() -> None:
    assert read(answer("a\ufffdb")).notes == ("replacement_character",)


def test_halves_of_a_character_in_two_chunks_become_one() -> None:
    exchange = read(answer("\ud83c", "\udf0d!"))
    assert exchange.text == "🌍!"
    assert names(exchange) == {"not_strict_json", "surrogates"}


def test_a_lone_surrogate_survives() -> None:
    exchange = read(answer("a\ud83cb"))
    assert (exchange.text, exchange.outcome) == ("a\ud83cb", "ok")
    written = decode(encode(exchange))
    assert isinstance(written, Exchange)
    assert written.text == "a?b"
    assert written.text_digest == exchange.text_digest


def test_nul_and_control_characters_are_text() -> None:
    assert read(answer("a\0\x1b[2J\u202eb")).text == "a\0\x1b[2J\u202eb"


def test_five_mebibytes_in_one_line() -> None:
    exchange = read(answer("x" * (5 * 2**20)))
    assert (exchange.outcome, len(exchange.text), exchange.token_events) == ("ok", 5 * 2**20, 1)


def test_a_frame_over_the_limit_keeps_what_came_before() -> None:
    body = answer("Hi", end=[]) + b"data: " + b"x" * (9 * 2**20) + b"\n\n" + events(STOP, DONE)
    made = Reading(opened())
    made.headers(1, 200, EVENT_STREAM)
    made.body(2, body)
    assert made.finished
    made.body(3, events(STOP, DONE))
    exchange = made.end(4)
    assert (exchange.failure, exchange.text, exchange.finish_reason) == (Failure.FRAME, "Hi", None)


def test_all_that_is_kept_of_a_failure_is_bounded() -> None:
    long = "x" * 100_000
    for body, headers in [
        (events({"error": {"message": long, "type": long, "code": long}}), {}),
        (events(*[f"{{{n}{long}" for n in range(50)]), {}),
        (b"".join(b"f%d%s: x\ndata: {}\n\n" % (n, long.encode()) for n in range(20)), {}),
        (long.encode(), {"status": 500}),
        (answer("Hi", end=[chunk(finish=long, model=long), chunk(finish=long + "y"), DONE]), {}),
    ]:
        exchange = read(body, **headers)
        assert len(encode(exchange)) < 8000


def test_notes_are_few() -> None:
    """Each oddity is told once, however often it comes."""
    odd = [text("a", id=str(n), created=n, usage=[n]) for n in range(1000)]
    assert len(read(events(*odd, STOP, DONE)).notes) == 3


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ('{"a":NaN,"b":-Infinity}', "[nan, -inf]"),
        ('{"a":nan,"b":-inf}', "[nan, -inf]"),
        ('{"a":-nan(ind),"b":Inf}', "[nan, inf]"),
        ('{"a":"x: nan","b":nan}', "['x: nan', nan]"),
        ('{"a":"q\\"nan","b":infinity}', "['q\"nan', inf]"),
    ],
)
def test_numbers_that_are_none(given: str, value: str) -> None:
    document, strict = parse(given)
    assert (str(list(document.values())), strict) == (value, False)


@pytest.mark.parametrize(
    "given", ["", "nano", "{", '{"a":nano}', '"nan', DEEP, "[1,]", '{"a":' + '"\\"' * 9, "\ud800"]
)
def test_what_is_not_json(given: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(given)


def test_printable() -> None:
    assert printable("a b\n\x1b\u202e\ud800é", 100) == "a b\\n\\x1b\\u202e\\ud800é"
    assert printable("abcdef", 5) == "abcd…"
    assert len(printable("\x1b" * 50, 40)) == 40
