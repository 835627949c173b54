"""Telling servers apart, and refusing what will not do, before any load."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from soakproof.errors import UsageError
from soakproof.target import Credentials, examine, is_local, split_host

Answer = tuple[int, str, str]  # status, content type, body
CHAT = {"model": "m.gguf", "choices": [{"message": {"content": "o"}}], "usage": {"prompt_tokens": 100}}


@contextmanager
def server(answer: Callable[[str, dict[str, str]], Answer]) -> Iterator[str]:
    """A small HTTP server whose answers a function makes from path and headers."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, kind, body = answer(self.path, {k.lower(): v for k, v in self.headers.items()})
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: Any) -> None: ...

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_port}"
    finally:
        httpd.shutdown()
        httpd.server_close()


def llama(path: str, _: dict[str, str]) -> Answer:
    """A bare llama.cpp server that shows no slots."""
    documents = {
        "/health": {"status": "ok"},
        "/v1/models": {"data": [{"id": "m.gguf"}]},
        "/props": {"build_info": "b11434-abc", "model_path": "/models/m.gguf", "chat_template": "x"},
        "/v1/chat/completions": CHAT,
        "/tokenize": {"tokens": list(range(100))},
    }
    if path in documents:
        return 200, "application/json", json.dumps(documents[path])
    return 501, "application/json", '{"error":{"code":501,"message":"This server does not support slots"}}'


def refused(answer: Callable[[str, dict[str, str]], Answer], model: str | None = None) -> str:
    with server(answer) as url, pytest.raises(UsageError) as caught:
        examine(url, model, Credentials())
    assert caught.value.exit_code == 64
    return str(caught.value)


def test_a_bare_llama_server_is_told_by_asking():
    with server(llama) as url:
        target = examine(url, None, Credentials())
    assert (target.kind, target.model, target.identity["build"]) == ("llamacpp", "m.gguf", "b11434-abc")
    assert (target.identity["build_number"], target.identity["build_commit"]) == (11434, "abc")
    assert target.provenance["build"] == f"GET {url}/props"
    assert target.provenance["model_resolved"] == f"GET {url}/v1/models"
    assert target.slots_url is None
    assert any("slots" in remark for remark in target.remarks)


def test_html_is_no_llm_server():
    assert "HTML" in refused(lambda *_: (200, "text/html", "<html>hello</html>"))


def test_some_other_json_service_is_no_llm_server():
    assert "no LLM server" in refused(lambda *_: (200, "application/json", '{"ok":true}'))


def test_a_model_still_loading_is_said():
    assert "loading" in refused(lambda *_: (503, "application/json", '{"error":{"message":"Loading model"}}'))


def test_a_key_that_is_wanted_is_asked_for_and_a_right_one_is_used():
    def guarded(path: str, headers: dict[str, str]) -> Answer:
        if headers.get("authorization") != "Bearer right":
            return 401, "application/json", '{"error":{"message":"Invalid API Key"}}'
        return llama(path, headers)

    assert "LEMONADE_API_KEY" in refused(guarded)
    with server(guarded) as url:
        assert examine(url, None, Credentials("right")).kind == "llamacpp"
        with pytest.raises(UsageError, match="refuses the API key that was given") as wrong:
            examine(url, None, Credentials("wrong"))
        assert "is it this server's?" in wrong.value.hint
        with pytest.raises(UsageError) as spoken:
            examine(url.replace("http:", "https:"), None, Credentials())
        assert spoken.value.hint == f"it does not speak TLS there: try {url}"


def test_an_unknown_model_is_refused_with_those_that_are_there():
    told = refused(llama, model="other")
    assert "'other'" in told
    assert "m.gguf" in told


@pytest.mark.parametrize("key", ["sk\r1234", "sk-\u00fcn\u00ef", "two words", "sk\x00"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UsageError) as refusal:
        Credentials.find(key)
    assert key not in f"{refusal.value}"
    if "\0" not in key:
        monkeypatch.setenv("LEMONADE_API_KEY", key)
        with pytest.raises(UsageError, match="LEMONADE_API_KEY"):
            Credentials.find(None)


def test_a_line_end_around_a_key_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LEMONADE_API_KEY", " sk-1234\r\n")
    assert Credentials.find(None).key == "sk-1234"
    assert Credentials.find("sk-5678\n").key == "sk-5678"


def test_a_key_is_never_shown():
    assert "right" not in repr(Credentials("right"))


def test_a_key_that_a_server_repeats_is_not_kept():
    """Lemonade tells its backend's command line and options, and either may hold a key."""
    command = ["llama-server", "-m", "m.gguf", "--api-key", "hunter2", "--hf-token=hunter2", "-np", "2"]
    entry = {
        "model_name": "m.gguf",
        "launch_command": command,
        "recipe_options": {"ctx_size": 4096, "llamacpp_args": "-np 2 --api-key hunter2"},
    }

    def lemonade(path: str, headers: dict[str, str]) -> Answer:
        if path.endswith("/health"):
            return 200, "application/json", json.dumps({"all_models_loaded": [entry], "version": "11"})
        return llama(path, headers)

    with server(lemonade) as url:
        told = examine(url, "m.gguf", Credentials()).describe()
    assert "hunter2" not in json.dumps(told)
    assert told["recipe_options"] == {"ctx_size": 4096, "llamacpp_args": "-np 2 --api-key [removed]"}
    assert told["launch_command"][3:] == [
        "--api-key",
        "[removed]",
        "--hf-token=[removed]",
        "-np",
        "2",
    ]


@pytest.mark.parametrize(("recipe", "tokens"), [("llamacpp", 4096), ("flm", None)])
def test_the_host_caches_size_comes_from_the_launch(recipe: str, tokens: int | None):
    entry = {
        "model_name": "m.gguf",
        "recipe": recipe,
        "launch_command": ["llama-server", "-m", "m.gguf", "--cache-ram", "1024"],
    }

    def lemonade(path: str, headers: dict[str, str]) -> Answer:
        if path.endswith("/health"):
            return 200, "application/json", json.dumps({"all_models_loaded": [entry], "version": "11"})
        return llama(path, headers)

    with server(lemonade) as url:
        assert examine(url, "m.gguf", Credentials()).surroundings({}).cache_tokens == tokens


def test_a_key_that_a_refusal_quotes_is_not_shown():
    def quoting(path: str, headers: dict[str, str]) -> Answer:
        if path.endswith("/completions"):
            return 400, "application/json", json.dumps({"error": f"{headers['authorization']} is odd"})
        return llama(path, headers)

    with server(quoting) as url, pytest.raises(UsageError) as caught:
        examine(url, None, Credentials("hunter2-hunter2"))
    assert "is odd" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_the_environment_gives_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("LEMONADE_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "second")
    assert Credentials.find(None).headers == {"Authorization": "Bearer second"}
    monkeypatch.setenv("LEMONADE_API_KEY", "first")
    assert Credentials.find(None).key == "first"
    assert Credentials.find("given").key == "given"


def test_nobody_there():
    with server(llama) as url:
        pass
    with pytest.raises(UsageError, match="does not answer"):
        examine(url, None, Credentials())


@pytest.mark.parametrize(
    ("host", "base", "prefix"),
    [
        ("http://localhost:13305", "http://localhost:13305", None),
        ("http://localhost:13305/", "http://localhost:13305", None),
        ("http://localhost:13305/api/v1", "http://localhost:13305", "/api/v1"),
        ("http://[::1]:8080/v1/", "http://[::1]:8080", "/v1"),
        ("https://example.org", "https://example.org", None),
    ],
)
def test_hosts_as_people_write_them(host: str, base: str, prefix: str | None):
    assert split_host(host) == (base, prefix)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost:23305", "ftp://x", "http://", "http://x:99999", "http://x:0", "http://x/chat", ""),
        *(
            "http://[::1",
            "http://[x]",
            "http://.",
            "http://a..b",
            "http://" + "a" * 70,
            "http://xn--" + "a" * 70,
        ),
        *(
            "http://user:word@x",
            "http://x?key=word",
            "http://x#here",
            "http://a b",
            "http://\x1b[2Jx",
            "http://\ud800",
        ),
    ],
)
def test_what_is_no_address_is_refused(host: str):
    with pytest.raises(UsageError) as caught:
        split_host(host)
    assert str(caught.value).replace("\n", "").isprintable()
    assert "word" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "port"),
    [("localhost:23305", 23305), ("http://x:8080/v1/chat/completions", 8080), ("nonsense", 13305)],
)
def test_the_example_of_an_address_has_the_port_that_was_given(host: str, port: int):
    with pytest.raises(UsageError, match=f"http://localhost:{port}$"):
        split_host(host)


def test_loopback_is_local_and_a_documentation_address_is_not():
    assert is_local("http://localhost:1")
    assert is_local("http://127.0.0.1:1")
    assert not is_local("http://192.0.2.1:1")


@pytest.mark.parametrize(
    "host",
    [
        "http://user:hunter2@h",
        "https://hunter2@h/v1",
        "ftp://user:hunter2@h",
        "user:hunter2@h:80",
        "http://user:hun@ter2:hunter2@h:0/v9?x=y",
        "ftp://h/?key=hunter2",
        "ftp://h#hunter2",
        "http://h:0/v1?key=hunter2",
        "http://h/sk-hunter2-and-more",
        "http://h:sk-hunter2-and-more",
    ],
)
def test_no_refusal_of_an_address_shows_what_may_be_a_key(host: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_host(host)
    assert "hunter2" not in str(caught.value)
