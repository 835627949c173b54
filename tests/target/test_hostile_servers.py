"""Whatever a server says of itself, and however slowly: a Target or a UsageError, within bounds."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from misbehaving import document, serving

from soakproof.errors import UsageError
from soakproof.inventory.cache import Cache
from soakproof.inventory.digests import Digests
from soakproof.inventory.process import program
from soakproof.nesting import bounded
from soakproof.run import to_json
from soakproof.target import Credentials, Target, examine
from soakproof.target.asking import BODY_LIMIT, Asking, NoAnswerError

Say = Callable[[socket.socket, str, bytes], None]
CHAT = {"model": "m", "choices": [{"message": {"content": "o"}}], "usage": {"prompt_tokens": 100}}
KEYS = (
    *("model_name", "type", "pid", "backend_url", "last_use", "recipe_options", "ctx_size", "n_ctx", "id"),
    *("is_processing", "state", "next_token", "params", "seed", "data", "slots", "tokens", "x"),
)
ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(
        ["http://127.0.0.1:1/v1", "http://[::1", "file:///etc/passwd", "\ud800", "\x1b[2J", 10**400]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=8,
)


@contextmanager
def server(say: Say) -> Iterator[str]:
    """A raw server: ``say`` has the connection, the path and the whole request so far."""

    def act(connection: socket.socket) -> None:
        data = connection.recv(1 << 20)
        if data:
            say(connection, data.split(b" ")[1].decode(), data)

    with serving(act) as url:
        yield url


class Documents:
    """A server whose answers can be changed between two questions."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}

    def say(self, connection: socket.socket, path: str, _: bytes) -> None:
        known = path in self.answers
        connection.sendall(document("200 OK" if known else "404 Not Found", self.answers.get(path, {})))


def lemonade(health: Any = None, **more: Any) -> dict[str, Any]:
    models = {"all_models_loaded": [{"model_name": "m", "type": "llm"}]} if health is None else health
    return {"/v1/health": models, "/v1/chat/completions": CHAT, **more}


@pytest.fixture(scope="module")
def documents() -> Iterator[tuple[Documents, str]]:
    made = Documents()
    with server(made.say) as url:
        yield made, url


def asked(
    documents: tuple[Documents, str], answers: dict[str, Any], model: str | None = None
) -> Target | str:
    """The target, or the words of the refusal."""
    made, url = documents
    made.answers = answers
    try:
        return examine(url, model, Credentials(), timeout=5)
    except UsageError as error:
        return str(error)


HOSTILE = settings(max_examples=30, suppress_health_check=list(HealthCheck))


@HOSTILE
@given(loaded=ODD, models=ODD)
def test_any_health_document(documents: tuple[Documents, str], loaded: Any, models: Any) -> None:
    answers = lemonade({"all_models_loaded": loaded, "version": models, "max_models": loaded})
    target = asked(documents, {**answers, "/v1/models": models, "/v1/slots": loaded}, "m")
    if isinstance(target, Target):
        assert to_json(target.describe())
        assert target.slots >= 1
        assert target.slot_context >= 1
        assert target.backend_pid is None or target.backend_pid > 0
    asked(documents, {**answers, "/v1/models": models})


@HOSTILE
@given(first=ODD, second=ODD)
def test_any_document_of_a_llama_server(documents: tuple[Documents, str], first: Any, second: Any) -> None:
    chat = {**CHAT, "model": first, "usage": second}
    told = {"/v1/models": {"data": first}, "/slots": second, "/props": first, "/tokenize": {"tokens": second}}
    for slots in ([second, first], {"slots": first}, [{"is_processing": False, "n_ctx": first}]):
        target = asked(documents, {"/v1/chat/completions": chat, "/health": first, **told, "/slots": slots})
        if isinstance(target, Target):
            assert to_json(target.describe())
            assert 0.5 <= target.chars_per_token <= 16


def test_a_backend_elsewhere_is_not_asked_and_the_key_goes_to_the_front_alone() -> None:
    """A front that names another address must not have our requests, or the key, sent there."""
    seen: list[bytes] = []

    def elsewhere(connection: socket.socket, path: str, data: bytes) -> None:
        seen.append(data)
        connection.sendall(document("200 OK", [{"is_processing": False, "n_ctx": 64}]))

    with server(elsewhere) as other:
        made = Documents()
        loaded = [{"model_name": "m", "type": "llm", "backend_url": f"{other}/v1"}]
        made.answers = lemonade({"all_models_loaded": loaded})
        with server(made.say) as url:
            assert examine(url, "m", Credentials("secret")).slot_context == 64
            assert seen
            assert not any(b"secret" in data for data in seen)
            for address in ("http://example.org/v1", "http://127.0.0.1.example.org", "http://[::1", "//x", 5):
                loaded[0]["backend_url"] = address  # type: ignore[assignment]
                target = examine(url, "m", Credentials("secret"))
                assert target.backend_url is None
                assert any("cannot be reached" in remark for remark in target.remarks)


def test_a_nest_without_end_is_no_document(documents: tuple[Documents, str]) -> None:
    made, url = documents
    deep = b"[" * 100_000
    made.answers = lemonade(**{"/v1/slots": deep, "/v1/models": deep, "/health": deep})
    assert examine(url, "m", Credentials()).slots == 1
    wrapped: Any = []
    for _ in range(900):
        wrapped = {"slots": wrapped}
    made.answers = lemonade(**{"/v1/slots": wrapped})
    assert examine(url, "m", Credentials()).slots == 1


@pytest.mark.parametrize("levels", [40, 64, 400, 900, 1000, 50_000])
def test_a_document_of_any_depth(documents: tuple[Documents, str], levels: int) -> None:
    """A target whose run.json can be read again, or a refusal; a health too deep is no Lemonade's."""
    deep = b'{"x":' * levels + b"1" + b"}" * levels
    for name in (b"recipe_options", b"checkpoint", b"launch_command", b"model_name", b"backend_url"):
        entry = b'{"model_name": "m", "type": "llm", "' + name + b'": ' + deep + b"}"
        answers = lemonade(**{"/v1/system-info": deep, "/v1/models/m": deep, "/v1/slots": deep})
        answers["/v1/health"] = b'{"all_models_loaded": [' + entry + b"]}"
        target = asked(documents, answers, "m")
        if isinstance(target, Target):
            bounded({"target": json.loads(to_json(target.describe()))})
        assert isinstance(target, Target) == (levels == 40)
        told = {"/v1/models": deep, "/health": deep, "/props": deep, "/slots": deep, "/tokenize": deep}
        asked(documents, {**told, "/v1/chat/completions": CHAT})
        asked(documents, {**told, "/v1/models": {"data": []}, "/v1/chat/completions": CHAT})
        assert isinstance(asked(documents, {**lemonade(), "/v1/chat/completions": deep}, "m"), str)


def test_names_with_escapes_are_told_without_them(documents: tuple[Documents, str]) -> None:
    names = [
        {"id": "\x1b[2J\x1b]0;owned\x07"},
        {"id": "a\u202eb"},
        {"id": "x" * 600},
        {"id": "\ud800"},
        {"id": 5},
    ]
    told = asked(documents, {"/v1/models": {"data": names}, "/health": {}}, "other")
    assert isinstance(told, str)
    assert "has no model 'other'" in told
    assert "x" * 600 not in told
    assert told.replace("\n", "").isprintable()


def dribble(connection: socket.socket, *_: object) -> None:
    """A byte now and then: no timeout between two bytes is ever met."""
    for byte in b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + b"X: y\r\n" * 1000:
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


def dribble_body(connection: socket.socket, *_: object) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n")
    for _ in range(1000):
        connection.sendall(b" ")
        time.sleep(0.02)


def silent(connection: socket.socket, *_: object) -> None:
    connection.recv(1)


@pytest.mark.parametrize("say", [dribble, dribble_body, silent])
def test_a_server_that_never_ends_is_not_waited_for(say: Say) -> None:
    with (
        server(say) as url,
        pytest.raises(UsageError, match=r"does not answer: (no whole answer|.*timed out)"),
    ):
        examine(url, None, Credentials(), timeout=0.6)


def endless(connection: socket.socket, *_: object) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        connection.sendall(b"1," * (1 << 16))


def test_a_body_without_end_is_not_read_to_it() -> None:
    with server(endless) as url, pytest.raises(UsageError, match="more than 8 MiB"):
        examine(url, None, Credentials())


def test_headers_without_end_are_not_read_to_it() -> None:
    def headers(connection: socket.socket, *_: object) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X-More: " + b"y" * 1000 + b"\r\n")

    with server(headers) as url, pytest.raises(UsageError, match="does not answer"):
        examine(url, None, Credentials())


def test_a_question_left_behind_does_not_spoil_the_next() -> None:
    def say(connection: socket.socket, path: str, _: bytes) -> None:
        if path == "/slow":
            connection.recv(1)
        connection.sendall(document("200 OK", {"path": path}))

    with server(say) as url:
        asking = Asking(url, {})
        with pytest.raises(NoAnswerError):
            asking.get(f"{url}/slow", 0.2)
        assert asking.get(f"{url}/fast", 5).json() == {"path": "/fast"}
        asking.close()


def test_what_a_file_or_a_process_is_called_by_a_server_is_not_believed(tmp_path: Any) -> None:
    """It may name a device without an end, a pipe that nobody writes, or what no file can be called."""
    import os

    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", str(tmp_path / "pipe"), str(tmp_path), "a\0b", "x" * 5000, "\ud800", ""):
        assert Digests(Cache(tmp_path), until=None).of(path) is None
    for pid in (-1, 0, 2**40, 2**70):
        assert program(pid) is None


def test_the_limit_holds_what_real_servers_say() -> None:
    assert len(json.dumps([{"is_processing": True, "params": {"x": "y" * 2000}}] * 256)) < BODY_LIMIT
