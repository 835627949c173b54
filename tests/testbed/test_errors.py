"""The table of errors, each in Lemonade's own shape."""

import json
from typing import Any

import httpx
import pytest
from wire import Connection, chat, events, long_prompt

from soakproof.testbed.launch import Testbed

CHAT = "/v1/chat/completions"
MESSAGES = chat("Repeat exactly: hello")["messages"]
NO_MODEL = {"error": {"message": "Invalid request: No model specified in request", "type": "invalid_request"}}


def raised(status: int, text: str) -> dict[str, Any]:
    """The wrapped form of an engine's error."""
    inner = {"code": status, "message": text, "type": "invalid_request_error"}
    details = {"backend": "llama-server", "response": {"error": inner}}
    return {"error": inner | {"details": details, "status_code": status}}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in chat("Repeat exactly: hello").items() if name != key}


CASES = [
    ("no model", CHAT, {"messages": MESSAGES}, 400, NO_MODEL),
    ("no messages", CHAT, without("messages"), 400, raised(400, "'messages' is required")),
    (
        "a bad temperature",
        CHAT,
        {"model": "llm", "messages": MESSAGES, "temperature": "hot"},
        400,
        raised(
            400, "Field 'temperature': [json.exception.type_error.302] type must be number, but is string"
        ),
    ),
    (
        "a body that is an array",
        CHAT,
        [],
        500,
        {"error": "[json.exception.type_error.307] cannot use erase() with array"},
    ),
    (
        "a stream that is no boolean",
        CHAT,
        chat("x", stream="yes"),
        500,
        {"error": "[json.exception.type_error.302] type must be boolean, but is string"},
    ),
    (
        "unload of what is not loaded",
        "/v1/unload",
        {"model_name": "nope"},
        404,
        {"error": "Model not loaded: nope"},
    ),
]


@pytest.mark.parametrize(
    ("path", "body", "status", "document"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_an_error_is_lemonades(client: httpx.Client, path: str, body: Any, status: int, document: Any):
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()) == (status, document)
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("asked", "named"), [("nope", "nope"), ("probe", "probe"), (5, ""), (None, ""), ("", "")]
)
def test_an_unknown_model_is_404(client: httpx.Client, asked: Any, named: str, stream: bool):
    answer = client.post(CHAT, json=chat("x", model=asked, stream=stream))
    error = answer.json()["error"]
    assert answer.status_code == 404
    assert sorted(error) == ["code", "message", "param", "requested_model", "type"]
    assert (error["code"], error["requested_model"]) == ("model_not_found", named)


@pytest.mark.parametrize("text", ["{", '{"model":"llm",}', "not json", '{"model":"llm"} x'])
def test_bad_json_is_400_for_chat_and_500_for_completions(client: httpx.Client, text: str):
    for path, status, start in ((CHAT, 400, "Invalid JSON in request body: "), ("/v1/completions", 500, "")):
        answer = client.post(path, content=text)
        assert answer.status_code == status
        assert answer.json()["error"].startswith(
            f"{start}[json.exception.parse_error.101] parse error at line 1"
        )


def test_an_empty_body_is_400(client: httpx.Client):
    answer = client.post(CHAT)
    assert (answer.status_code, answer.json()) == (400, {"error": "Request body is required but was empty"})


def test_a_large_body_that_does_not_say_json_is_413(client: httpx.Client):
    large = b" " * (1 << 20) + b"{}"
    assert client.post(CHAT, content=large).status_code == 413
    typed = client.post(CHAT, content=large, headers={"Content-Type": "application/json"})
    assert (typed.status_code, typed.json()) == (400, NO_MODEL)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CHAT, 405),
        ("GET", "/v1/load", 405),
        ("PUT", CHAT, 404),
        ("DELETE", CHAT, 404),
        ("POST", "/v1/health", 404),
        ("GET", "/health", 404),
        ("GET", "/slots", 404),
        ("GET", "/v1/health/", 404),
        ("GET", "/v1/nothing", 404),
        ("OPTIONS", CHAT, 204),
    ],
)
def test_wrong_methods_and_paths(client: httpx.Client, method: str, path: str, status: int):
    answer = client.request(method, path)
    assert answer.status_code == status
    if status == 404:
        message = "The requested endpoint does not exist"
        assert answer.json() == {"error": {"message": message, "path": path, "type": "not_found"}}
    if status == 405:
        assert answer.json() == {"error": "Method Not Allowed. Use POST for this endpoint"}


def test_no_model_in_a_stream_is_an_event(testbed: Testbed):
    stream = Connection(testbed.url).send({"messages": MESSAGES, "stream": True}).to_the_end()
    assert stream.head.startswith("http/1.1 200")
    assert stream.body == b"data: " + json.dumps(NO_MODEL, separators=(",", ":")).encode() + b"\n\n"


def test_over_the_context(client: httpx.Client, testbed: Testbed):
    body = chat(long_prompt(6000), max_tokens=4)
    error = client.post(CHAT, json=body).json()["error"]
    assert (error["code"], error["type"]) == ("context_length_exceeded", "invalid_request_error")
    inner = error["details"]["response"]["error"]
    assert inner["type"] == "exceed_context_size_error"
    assert inner["n_prompt_tokens"] > inner["n_ctx"] == 16384

    stream = Connection(testbed.url).send(body | {"stream": True}).to_the_end()
    assert stream.head.startswith("http/1.1 200")
    assert events(stream.body) == [{"error": inner | {"status_code": 400}}]
    assert b"[DONE]" not in stream.body


def test_a_refused_parameter_in_a_stream_is_an_event(testbed: Testbed):
    stream = Connection(testbed.url).send(chat("x", stream=True, temperature="hot")).to_the_end()
    (event,) = events(stream.body)
    assert (event["error"]["code"], event["error"]["status_code"]) == (400, 400)
    assert b"[DONE]" not in stream.body
