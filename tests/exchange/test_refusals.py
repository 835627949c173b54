"""Errors in every shape that servers have: which failure each is, in a stream, a body or a status."""

import hashlib
import json
from typing import Any

import pytest
from responses import (
    EVENT_STREAM,
    HTML,
    JSON,
    TOO_LONG,
    WATCHDOG,
    answer,
    chunk,
    encoded,
    events,
    opened,
    read,
)

from soakproof.exchange import Reading
from soakproof.records import Failure, encode


def wrapped(inner: Any) -> dict[str, Any]:
    """Lemonade's form of a backend's error."""
    return {
        "error": {
            "code": 400,
            "details": {"backend": "llama-server", "response": inner},
            "message": "llama-server request failed",
            "status_code": 400,
            "type": "backend_error",
        }
    }


# name -> status, body, failure
BODIES: dict[str, tuple[int, Any, Failure]] = {
    "no model loaded": (
        400,
        {"error": "No model loaded and no model specified in request"},
        Failure.CONFIGURATION,
    ),
    "unknown model": (
        404,
        {"error": {"code": "model_not_found", "message": "no such model", "param": "model", "type": "x"}},
        Failure.CONFIGURATION,
    ),
    "unknown model told as a server's error": (
        500,
        {"error": {"code": "model_not_found", "message": "no such model"}},
        Failure.CONFIGURATION,
    ),
    "wrong key": (401, {"error": {"message": "Invalid API Key", "type": "auth"}}, Failure.CONFIGURATION),
    "forbidden": (403, {"detail": "Forbidden"}, Failure.CONFIGURATION),
    "wrong path": (404, {"detail": "Not Found"}, Failure.CONFIGURATION),
    "wrong method": (405, {}, Failure.CONFIGURATION),
    "bad field": (
        422,
        {"detail": [{"loc": ["body", "seed"], "msg": "not an integer", "type": "int_type"}]},
        Failure.CONFIGURATION,
    ),
    "all slots pinned": (
        409,
        {"error": {"message": "slots pinned", "type": "slots_pinned_error"}},
        Failure.CONFIGURATION,
    ),
    "body too large": (413, b"", Failure.CONFIGURATION),
    "over the context, llama.cpp": (400, TOO_LONG, Failure.CONTEXT),
    "over the context, ik_llama.cpp": (
        500,
        {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}},
        Failure.CONTEXT,
    ),
    "over the context, Lemonade": (
        400,
        {
            "error": {
                "code": "context_length_exceeded",
                "message": "too many tokens",
                "type": "invalid_request",
            }
        },
        Failure.CONTEXT,
    ),
    "over the context, wrapped": (400, wrapped(TOO_LONG), Failure.CONTEXT),
    "over the context, wrapped as text": (400, wrapped(json.dumps(TOO_LONG)), Failure.CONTEXT),
    "over the context, vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000.",
            "type": "BadRequestError",
            "code": 400,
        },
        Failure.CONTEXT,
    ),
    "over the context, TGI": (
        422,
        {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096", "error_type": "validation"},
        Failure.CONTEXT,
    ),
    "over the context, SGLang": (
        400,
        {
            "object": "error",
            "message": "Input length (5000 tokens) exceeds the maximum allowed length (4091 tokens).",
            "type": "BadRequest",
            "code": 400,
        },
        Failure.CONTEXT,
    ),
    "over the context, LM Studio": (
        400,
        {"error": "The model is loaded with context length of only 4096 tokens"},
        Failure.CONTEXT,
    ),
    "failed at its work, TGI": (
        424,
        {"error": "Request failed during generation: Server error: CUDA error", "error_type": "generation"},
        Failure.HTTP_STATUS,
    ),
    "believes that we left": (499, b"", Failure.HTTP_STATUS),
    "crashed, LM Studio": (
        400,
        {"error": "The model has crashed without additional information. (Exit code: 6)"},
        Failure.BACKEND_LOST,
    ),
    "crashed, Ollama": (
        500,
        {"error": {"message": "llama runner process no longer running: -1", "type": "api_error"}},
        Failure.BACKEND_LOST,
    ),
    "crashed, newer Ollama": (
        500,
        {"error": {"message": "model runner has unexpectedly stopped, this may be due to resource limits"}},
        Failure.BACKEND_LOST,
    ),
    "bad request, wrapped": (400, wrapped({"error": {"message": "bad temperature"}}), Failure.CONFIGURATION),
    "loading": (
        503,
        {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}},
        Failure.HTTP_STATUS,
    ),
    "too many, in words that a length has": (
        429,
        {"error": {"message": "Input length exceeded the rate limit"}},
        Failure.HTTP_STATUS,
    ),
    "queue full": (429, {"error": {"message": "Too many requests"}}, Failure.HTTP_STATUS),
    "half-sent body": (408, b"", Failure.HTTP_STATUS),
    "backend gone": (502, WATCHDOG, Failure.BACKEND_LOST),
    "engine gone": (
        500,
        {"error": {"message": "EngineCore encountered an issue.", "type": "InternalServerError"}},
        Failure.BACKEND_LOST,
    ),
    "json exception": (500, {"error": "[json.exception.type_error.302] type must be"}, Failure.HTTP_STATUS),
    "redirect": (307, b"", Failure.HTTP_STATUS),
    "front's page": (502, HTML, Failure.HTTP_STATUS),
    "front's page for a wrong path": (404, HTML, Failure.CONFIGURATION),
    "plain text": (500, b"Internal Server Error", Failure.HTTP_STATUS),
    "a list": (500, ["broken"], Failure.HTTP_STATUS),
    "framed as an event": (400, b'data: {"error":{"message":"prompt is too long"}}\n\n', Failure.CONTEXT),
    "not UTF-8": (500, b"\xff\xfe\x00", Failure.HTTP_STATUS),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("stream", [True, False])
def test_failing_status(name: str, stream: bool) -> None:
    status, body, failure = BODIES[name]
    exchange = read(encoded(body), status=status, headers=JSON, stream=stream)
    assert (exchange.outcome, exchange.failure, exchange.status) == ("fail", failure, status)
    assert exchange.reason.startswith(f"status {status}: ")
    assert (exchange.error_body or "")[:3000] == encoded(body).decode("utf-8", "replace")
    assert (exchange.text, exchange.token_events) == ("", 0)


def test_the_reason_has_the_messages_of_front_and_backend() -> None:
    exchange = read(encoded(wrapped(TOO_LONG)), status=400, headers=JSON)
    assert exchange.reason == (
        "status 400: llama-server request failed: "
        "request (9000 tokens) exceeds the available context size (8192 tokens)"
    )


def test_notes_of_refusals() -> None:
    headers = JSON | {"retry-after": "30"}
    assert read(b"", status=429, headers=headers).notes == ("retry_after: 30",)
    assert read(encoded(BODIES["loading"][1]), status=503, headers=JSON).notes == ("loading",)
    assert read(HTML, status=502, headers={"content-type": "text/html"}).notes == ("html",)


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (200, b"", Failure.PROTOCOL),
        (204, b"", Failure.PROTOCOL),
        (200, HTML, Failure.PROTOCOL),
        (200, b"null", Failure.PROTOCOL),
        (200, b'{"choices":[]}', Failure.PROTOCOL),
        (200, b'{"choices":[{"message":{"content":"Hi"},"finish_reason":null}]}', Failure.PROTOCOL),
        (200, b'{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}', Failure.EMPTY),
        (200, b'{"choices":[{"message":{"content":"Hi"}', Failure.PROTOCOL),
        (200, answer("Hi"), Failure.PROTOCOL),
        (200, encoded(WATCHDOG), Failure.BACKEND_LOST),
        (200, events(TOO_LONG), Failure.CONTEXT),
    ],
)
def test_failing_answer_that_is_not_streamed(status: int, body: bytes, failure: Failure) -> None:
    exchange = read(body, status=status, headers=JSON, stream=False)
    assert (exchange.outcome, exchange.failure) == ("fail", failure)


def test_a_key_that_the_server_quotes_is_not_recorded() -> None:
    key = "local-secret-1"
    told = f"Received API key {key} and sk-abcdefgh12345678, header Bearer abcdefgh.ijkl"
    made = Reading(opened(), redact=(key, ""))
    made.headers(1, 401, JSON | {"retry-after": key})
    made.body(2, encoded({"error": {"message": told}}))
    exchange = made.end(3)
    for part in (exchange.reason, exchange.error_body or "", *exchange.notes):
        assert not any(secret in part for secret in (key, "sk-abc", "abcdefgh"))
        assert "[removed]" in part


def test_a_key_that_a_server_gives_back_as_its_answer_is_not_recorded() -> None:
    """The digest is of the text as it is kept, so that the books still agree."""
    key = "local-secret-1"
    said = {"content": f"You sent Bearer {key}.", "reasoning_content": key}
    whole = events(
        chunk(said, model=key), chunk(finish="stop"), {"choices": [], "usage": {key: key}}, "[DONE]"
    )
    made = Reading(opened(), redact=(key,))
    made.headers(1, 200, EVENT_STREAM)
    made.body(2, whole)
    exchange = made.end(3)
    assert exchange.text == "You sent Bearer [removed]."
    assert exchange.text_digest == hashlib.sha256(exchange.text.encode()).hexdigest()
    assert key.encode() not in encode(exchange)


PLANNED: dict[str, tuple[int, Any, str, Failure | None]] = {
    "an unknown model": (404, {"error": {"code": "model_not_found"}}, "ok", Failure.CONFIGURATION),
    "over the context": (400, TOO_LONG, "ok", Failure.CONTEXT),
    "as its own fault": (500, {"error": {"message": "std::exception"}}, "ok", Failure.HTTP_STATUS),
    "a backend that died of it": (200, events(WATCHDOG), "fail", Failure.BACKEND_LOST),
    "an answer": (200, answer("yes"), "ok", None),
    "an error after tokens": (200, answer("yes", end=(TOO_LONG,)), "fail", Failure.CONTEXT),
    "an event": (200, events(TOO_LONG), "ok", Failure.CONTEXT),
    "an empty answer": (200, answer(), "fail", Failure.EMPTY),
}


@pytest.mark.parametrize("what", PLANNED)
def test_what_was_asked_to_be_refused(what: str) -> None:
    """A refusal in the server's own words succeeds, and its class stays; whatever else failed has failed."""
    status, body, outcome, failure = PLANNED[what]
    headers = None if status == 200 else JSON
    found = read(encoded(body), status=status, headers=headers, refusal_planned=True)
    assert (found.outcome, found.failure) == (outcome, failure)
    assert bool(found.reason) == bool(failure)
    asked = read(encoded(body), status=status, headers=headers)
    assert asked.outcome == ("fail" if failure else "ok")


def test_a_connection_that_broke_is_no_refusal() -> None:
    made = Reading(opened(refusal_planned=True))
    assert made.broke(5, Failure.RESET, "reset").outcome == "fail"
