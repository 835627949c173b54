"""Streams that began with status 200 and are no answer: which failure each is."""

import pytest
from responses import (
    DONE,
    HTML,
    JSON,
    ROLE,
    STOP,
    TOO_LONG,
    WATCHDOG,
    answer,
    chunk,
    encoded,
    events,
    opened,
    read,
    reading,
    text,
)

from soakproof.exchange import Reading
from soakproof.records import Failure

# name -> body of a stream that began with status 200, failure
STREAMS: dict[str, tuple[bytes, Failure]] = {
    "error key": (events({"error": {"message": "boom", "type": "server_error"}}), Failure.ERROR_EVENT),
    "error as text": (events({"error": "boom"}), Failure.ERROR_EVENT),
    "an empty error without choices": (events({"error": {}}), Failure.ERROR_EVENT),
    "no model in a stream, Lemonade": (
        events({"error": {"message": "Invalid request: No model specified", "type": "invalid_request"}}),
        Failure.CONFIGURATION,
    ),
    "over the context in a stream, Lemonade": (events(TOO_LONG), Failure.CONTEXT),
    "backend killed in mid-stream": (answer("Once", end=[WATCHDOG]), Failure.BACKEND_LOST),
    "backend reset, told by its code alone": (
        events({"error": {"details": {"code": "backend_watchdog_reset"}, "message": "gone"}}),
        Failure.BACKEND_LOST,
    ),
    "unknown model, told by its code alone": (
        events({"error": {"code": "model_not_found", "message": "gone"}}),
        Failure.CONFIGURATION,
    ),
    "no model, told by its words alone": (events({"error": "No model loaded"}), Failure.CONFIGURATION),
    "context full in mid-stream": (
        answer(
            "Once",
            end=[
                {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}
            ],
        ),
        Failure.CONTEXT,
    ),
    "vLLM's object": (
        events({"object": "error", "message": "boom", "type": "InternalServerError", "code": 500}),
        Failure.ERROR_EVENT,
    ),
    "type and message without an error key": (
        events({"error_type": "internal", "error_message": "boom"}),
        Failure.ERROR_EVENT,
    ),
    "an error within the choice": (
        answer(
            "Once", end=[{"choices": [{"index": 0, "delta": {}, "error": {"code": 502, "message": "lost"}}]}]
        ),
        Failure.ERROR_EVENT,
    ),
    "an error within a finished choice": (
        answer(
            "Once",
            end=[{"choices": [{"index": 0, "finish_reason": "stop", "error": {"message": "lost"}}]}, DONE],
        ),
        Failure.ERROR_EVENT,
    ),
    "FastChat's, which then finishes": (
        answer("Once", end=[{"text": "NETWORK ERROR", "error_code": 50001}, STOP, DONE]),
        Failure.ERROR_EVENT,
    ),
    "a status that is a failure": (
        events({"status": "error", "message": "boom"}, STOP, DONE),
        Failure.ERROR_EVENT,
    ),
    "the runner is gone, Ollama": (
        events({"error": {"message": "llama runner process has terminated: exit status 2"}}),
        Failure.BACKEND_LOST,
    ),
    "the model crashed, LM Studio": (
        answer("Once", end=[])
        + b'event: error\ndata: {"error":{"message":"The model has crashed. (Exit code: 6)"}}\n\n',
        Failure.BACKEND_LOST,
    ),
    "over the context in mid-answer, LM Studio": (
        answer("Once", end=[])
        + b'event: error\ndata: {"message":"Reached context length of 4096 tokens with model"}\n\n',
        Failure.CONTEXT,
    ),
    "OpenRouter's, beside choices": (
        answer("Once", end=[chunk({"content": ""}, "error", error={"code": 502, "message": "lost"}), DONE]),
        Failure.ERROR_EVENT,
    ),
    "the finish reason alone": (answer("Once", end=[chunk(finish="abort"), DONE]), Failure.ERROR_EVENT),
    "event: error with JSON": (
        b'event: error\ndata: {"message":"boom","code":500}\n\n',
        Failure.ERROR_EVENT,
    ),
    "event: error with text": (b"event: error\ndata: upstream died\n\n", Failure.ERROR_EVENT),
    "event: error with a JSON text": (b'event: error\ndata: "upstream died"\n\n', Failure.ERROR_EVENT),
    "error field with text": (b"error: boom\n\ndata: [DONE]\n\n", Failure.ERROR_EVENT),
    "error field in an event with data": (
        b'error: {"message":"boom"}\ndata: {"choices":[]}\n\n',
        Failure.ERROR_EVENT,
    ),
    "JSON without data:, the whole body": (encoded(TOO_LONG), Failure.CONTEXT),
    "JSON without data:, then [DONE]": (encoded(TOO_LONG) + b"\n\ndata: [DONE]\n\n", Failure.CONTEXT),
    "JSON without data:, in mid-stream": (
        events(ROLE, text("Once")) + encoded(WATCHDOG) + b"\n\n",
        Failure.BACKEND_LOST,
    ),
    "JSON without data:, never ended": (events(ROLE, text("Once")) + encoded(WATCHDOG), Failure.BACKEND_LOST),
    "an error that no blank line ends": (
        events(ROLE) + b"data: " + encoded(WATCHDOG) + b"\n",
        Failure.BACKEND_LOST,
    ),
    "an error after the finish reason": (
        answer("Once", end=[STOP, {"error": {"message": "boom"}}, DONE]),
        Failure.ERROR_EVENT,
    ),
    "busy": (events({"error": {"code": 429, "message": "queue full"}}), Failure.ERROR_EVENT),
    "detail": (events({"detail": "boom"}), Failure.ERROR_EVENT),
    # No error that anyone told, and yet no answer.
    "nothing": (b"", Failure.PROTOCOL),
    "blank lines": (b"\n\n\n", Failure.PROTOCOL),
    "comments alone": (b": ping\n\n" * 4, Failure.CUT),
    "[DONE] alone": (events(DONE), Failure.CUT),
    "cut behind a token": (events(ROLE, text("Once")), Failure.CUT),
    "cut within an event": (answer("Once", " upon", end=[])[:-40], Failure.CUT),
    "cut in prefill": (events({"choices": [], "prompt_progress": {"processed": 128}}), Failure.CUT),
    "no finish reason, closed in good order": (
        answer("Once", end=[{"choices": [], "usage": {"completion_tokens": 1}}, DONE]),
        Failure.PROTOCOL,
    ),
    "no finish reason, cut behind an empty chunk": (events(text("Once"), text("")), Failure.CUT),
    "no finish reason, cut behind a heartbeat": (answer("Once", end=["{}", DONE]), Failure.CUT),
    "a number for a finish reason": (answer("Once", end=[chunk(finish=1), DONE]), Failure.PROTOCOL),
    "no chunk of a chat completion": (
        events({"type": "response.output_text.delta", "delta": "Hi"}, {"type": "response.completed"}),
        Failure.PROTOCOL,
    ),
    "Ollama's own lines": (b'{"message":{"content":"Hi"},"done":false}\n{"done":true}\n', Failure.PROTOCOL),
    "an answer that is not streamed": (
        encoded({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}),
        Failure.PROTOCOL,
    ),
    "a page": (HTML, Failure.PROTOCOL),
    "plain text": (b"Internal Server Error\n\n", Failure.PROTOCOL),
    "compressed": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", Failure.PROTOCOL),
    "no event is JSON": (events("{oops", "{oops"), Failure.PROTOCOL),
    "one event is not JSON": (
        answer("Once", end=['{"choices":[{"delta":{"content":" up', STOP, DONE]),
        Failure.PROTOCOL,
    ),
    "a chunk without data:": (
        events(text("Once")) + encoded(text(" upon")) + b"\n\n" + events(STOP, DONE),
        Failure.PROTOCOL,
    ),
    "an event that is a list": (events(text("Once"), '[{"a":1}]', STOP, DONE), Failure.PROTOCOL),
    "role, then stop": (answer(), Failure.EMPTY),
    "all filtered": (answer(end=[chunk(finish="content_filter"), DONE]), Failure.EMPTY),
    "refused": (answer(end=[chunk({"refusal": "I cannot"}), STOP, DONE]), Failure.EMPTY),
    "reasoning, then stop": (events(chunk({"reasoning": "hm"}), STOP, DONE), Failure.EMPTY),
    "reasoning to the limit": (
        events(chunk({"reasoning": "hm"}), chunk(finish="length"), DONE),
        Failure.BUDGET,
    ),
    "reasoning to the limit, called stop": (
        events(chunk({"reasoning": "hm"}), STOP | {"usage": {"completion_tokens": 512}}, DONE),
        Failure.BUDGET,
    ),
    "hidden reasoning to the limit": (
        events(
            ROLE,
            chunk(finish="length", usage={"completion_tokens_details": {"reasoning_tokens": 512}}),
            DONE,
        ),
        Failure.BUDGET,
    ),
    "one frame over the limit": (b"data: " + b"x" * (9 * 2**20), Failure.FRAME),
    "one document over the limit": (b'{"a":"' + b"x" * (9 * 2**20), Failure.FRAME),
}


@pytest.mark.parametrize("name", STREAMS)
def test_failing_stream(name: str) -> None:
    body, failure = STREAMS[name]
    exchange = read(body)
    assert (exchange.outcome, exchange.failure, exchange.status) == ("fail", failure, 200)
    assert exchange.reason
    assert len(exchange.error_body or "") <= 4096
    assert "Once" in exchange.text or b'"Once"' not in body  # what came before is kept


def test_the_reason_is_what_the_choices_error_says() -> None:
    broken = {"choices": [{"index": 0, "text": "Once", "error": {"code": 502, "message": "lost"}}]}
    assert read(events(broken, DONE)).reason == "lost"


def test_an_error_in_place_of_a_stream_is_told_as_unframed() -> None:
    """No client sees it: without the frame of an event it is an empty answer to them."""
    assert read(encoded(WATCHDOG)).notes == ("unframed_error",)
    assert read(encoded(WATCHDOG), headers=JSON, stream=False).notes == ()


def test_a_stream_is_finished_by_an_error() -> None:
    made = reading()
    made.body(1, answer("Once", end=[]))
    assert not made.finished
    made.body(2, events(WATCHDOG))
    assert made.finished


def test_the_first_of_two_errors_counts() -> None:
    exchange = read(events(WATCHDOG, TOO_LONG))
    assert (exchange.failure, exchange.error_body) == (Failure.BACKEND_LOST, encoded(WATCHDOG).decode())


def test_unreadable_events_are_counted_and_shown() -> None:
    exchange = read(events(text("a"), "{oops\x1b[2J", "{oops", STOP, DONE))
    assert exchange.parse_errors == 2
    assert exchange.error_body == "{oops\x1b[2J"
    (note,) = exchange.notes
    assert note.startswith("parse_error: ")
    assert note.endswith("in {oops\\x1b[2J")


def test_no_text_is_fine_where_none_is_due() -> None:
    for body in (answer(), events(chunk({"reasoning": "hm"}), chunk(finish="length"), DONE)):
        made = Reading(opened(), expect_text=False)
        made.headers(1, 200, {"content-type": "text/event-stream"})
        made.body(2, body)
        assert made.end(3).outcome == "ok"
