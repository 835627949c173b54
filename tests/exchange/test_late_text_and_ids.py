"""What a record keeps of a response besides its answer: text after [DONE], and the ids of its pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from responses import DONE, JSON, STOP, answer, events, read, text

from soakproof.context import Surroundings
from soakproof.reading.answer import MOST_IDS
from soakproof.reading.stray import MOST, Stray
from soakproof.reading.stream import AFTER_DONE_CHARS
from soakproof.request import Requests
from soakproof.scenario import Ask


def test_text_after_done_is_kept_and_is_no_part_of_the_answer() -> None:
    late = [text("ABCD"), text("-2345"), "no JSON", {"choices": []}]
    found = read(answer("Hi", end=[STOP, DONE, *late]))
    assert (found.outcome, found.text) == ("ok", "Hi")
    assert found.text_after_done == 'ABCD-2345no JSON{"choices": []}'
    assert "data_after_done" in found.notes


def test_healthy_answers_have_none() -> None:
    found = read(answer("Hi", end=[STOP, DONE, DONE]))
    assert (found.text_after_done, found.answer_id, found.other_ids) == ("", "chatcmpl-A1", ())


@given(st.lists(st.text(max_size=3000), max_size=6))
def test_what_is_kept_after_done_is_bounded_and_can_be_written(late: list[str]) -> None:
    found = read(answer("Hi", end=[STOP, DONE, *(text(t) for t in late)]))
    assert len(found.text_after_done) <= AFTER_DONE_CHARS
    found.text_after_done.encode()


def test_secrets_beside_the_answer_are_kept() -> None:
    chunk = text("Hi CDT9WF4P") | {"metadata": {"batch": ["of 7QGB-J9HX"]}}
    chunk["choices"][0]["delta"]["note"] = "ZBK7-VJFG"
    body = b": keep-alive MFRHXS24\n\n" + events(chunk, STOP, DONE)
    found = read(body, headers={"content-type": "text/event-stream", "x-trace": "GKRMTX4P-01"})
    assert found.stray_secrets == ("7QGB-J9HX", "GKRMTX4P", "MFRHXS24", "ZBK7-VJFG")
    assert read(answer("Hi CDT9WF4P")).stray_secrets == ()


@pytest.mark.parametrize(
    "event",
    [
        'event: ping\ndata: {"x": "7QGB-J9HX"}',
        "event: note-7QGB-J9HX\ndata: {}",
        "id: 7QGB-J9HX\ndata: {}",
        'data: ["7QGB-J9HX"]',
        "data: no JSON, 7QGB-J9HX",
        'data: {"object": "7QGB-J9HX", "choices": []}',
        'data: {"system_fingerprint": "b1-7QGB-J9HX", "choices": []}',
        'data: {"usage": {"note": "7QGB-J9HX"}, "choices": []}',
        'data: {"7QGB-J9HX": 1, "choices": []}',
        'data: {"choices": [{"index": 0, "delta": {}, "logprobs": {"content": [{"token": "7QGB-J9HX"}]}}]}',
        'data: {"error": {"message": "of 7QGB-J9HX", "code": 500}}',
    ],
)
def test_secrets_anywhere_in_any_event_are_kept(event: str) -> None:
    body = events(text("Hi CDT9WF4P")) + event.encode() + b"\n\n" + events(STOP, DONE)
    assert read(body).stray_secrets == ("7QGB-J9HX",)
    assert read(body).text == "Hi CDT9WF4P"


def test_secrets_anywhere_in_a_document_are_kept() -> None:
    document = {
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Hi CDT9WF4P"}}],
        "usage": {"note": "7QGB-J9HX"},
    }
    found = read(json.dumps(document).encode(), headers=JSON, stream=False)
    assert (found.text, found.stray_secrets) == ("Hi CDT9WF4P", ("7QGB-J9HX",))
    error = {"error": {"message": "busy with 7QGB-J9HX"}}
    refused = read(json.dumps(error).encode(), headers=JSON, status=503)
    assert (refused.outcome, refused.stray_secrets) == ("fail", ("7QGB-J9HX",))


def test_secrets_in_choices_that_were_not_asked_for_are_kept() -> None:
    mine, other = text("Hi CDT9WF4P"), {"index": 1, "delta": {"content": "of 7QGB-J9HX"}}
    beside = mine | {"choices": [*mine["choices"], other]}
    for chunks in ((mine, mine | {"choices": [other]}), (beside,)):
        found = read(events(*chunks, STOP, DONE))
        assert (found.text, found.stray_secrets) == ("Hi CDT9WF4P", ("7QGB-J9HX",))
        assert "other_choices" in found.notes


@pytest.mark.parametrize(
    "told", ["7qgb-j9hx", "7qgbj9hx", "7QGB_J9HX", "7Qgb.j9Hx", "7.Q.G.B.J.9.H.X", "7 q g b j 9 h x"]
)
def test_secrets_beside_the_answer_are_kept_in_other_spellings(told: str) -> None:
    chunk = text("Hi CDT9WF4P") | {"system_fingerprint": f"b1 {told}"}
    assert read(events(chunk, STOP, DONE)).stray_secrets == ("7QGBJ9HX",)
    assert read(answer(f"Hi {told}")).stray_secrets == ()  # what the answer itself says is no stray


def test_words_and_ids_are_no_secrets_in_another_spelling() -> None:
    chunk = text("Hi") | {
        "id": "chatcmpl-Tq7kBdWxRzPmHnVcGjK9sLfT4wXb",
        "note": "strengths, bcdfghjkl, 7qgb-j9h",
    }
    assert read(events(chunk, STOP, DONE)).stray_secrets == ()


def test_few_secrets_beside_the_answer_are_kept() -> None:
    stray = Stray()
    for number in range(MOST * 4):
        stray.add(f"HJKM-{number:04d}".replace("0", "A").replace("1", "B"))
    assert 1 < len(stray.secrets) <= MOST + 1


def test_half_a_character_after_done_is_replaced() -> None:
    lone = json.dumps(text("x")).replace("x", chr(92) + "ud800")
    assert read(answer("Hi", end=[STOP, DONE, lone])).text_after_done == "?"


def test_the_ids_of_pieces_are_kept_the_first_apart() -> None:
    pieces = [text(c, id=f"chatcmpl-{c}") for c in "abab"]
    found = read(events(*pieces, STOP | {"id": "chatcmpl-a"}, DONE))
    assert (found.text, found.answer_id, found.other_ids) == ("abab", "chatcmpl-a", ("chatcmpl-b",))
    many = [text("x", id=f"chatcmpl-{n}") for n in range(100)]
    assert len(read(events(*many, STOP, DONE)).other_ids) == MOST_IDS


@pytest.mark.parametrize(
    ("more", "temperature", "limit"),
    [
        (None, 0.8, 300),
        ({"temperature": 0, "n_predict": 5, "max_tokens": 6}, 0.0, 5),
        ({"temperature": "hot", "max_tokens": "many"}, None, 300),
    ],
)
def test_the_record_has_the_temperature_and_the_limit_of_the_body(more, temperature, limit) -> None:
    around = Surroundings(slots=2, slot_context=4096, chars_per_token=4.0)
    requests = Requests(node="load", model="m", around=around, seed=1, first_seed=7)
    asked = requests.prepare(Ask("x", tokens=300, temperature=0.8, more=more), "kind", 1, 0)
    assert (asked.record.temperature, asked.record.max_tokens) == (temperature, limit)
    assert json.loads(asked.body)["temperature"] == (more or {}).get("temperature", 0.8)
