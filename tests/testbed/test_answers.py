"""Right answers through the gateway, and their form on the wire."""

import json
import random
import re

import httpx
import pytest
from wire import Connection, chat, events, text_of

from soakproof.testbed.launch import Testbed

CHAT = "/v1/chat/completions"
LINES = ["hello world 12", "PX7K-01 PX7K-02 PX7K-03", "3f2b8c1e-9a04-4d77-8e21-5b6c7d8e9f00", "naïve café Ω"]
REGISTER = "\n".join(
    f"Record {n:04d}: station Selby, keeper Ivo, code K{n % 7 + 2}QX-M{n % 5 + 3}R{n // 10 + 2}, status open."
    for n in range(40)
)


def content(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_repeated_exactly(client: httpx.Client, line: str):
    asked = f"Reply with exactly the following line and nothing else:\n{line}"
    assert content(client.post(CHAT, json=chat(asked))) == line


def test_json_is_written_exactly(client: httpx.Client):
    asked = (
        "Return only a JSON object, with no Markdown and no commentary, that has exactly these fields:\n"
        "- station (string): Marlow\n- amount (integer): 417\n- resolved (boolean): true"
    )
    got = content(client.post(CHAT, json=chat(asked)))
    assert json.loads(got) == {"station": "Marlow", "amount": 417, "resolved": True}


def test_a_record_is_looked_up(client: httpx.Client):
    number = random.Random(7).randrange(40)
    want = re.findall(r"code (\S+),", REGISTER)[number]
    question = f"What is the code of record {number:04d}? Reply with the code only."
    asked = f"Below is a register of records.\n\n{REGISTER}\n\n{question}"
    assert content(client.post(CHAT, json=chat(asked))) == want


def test_a_stream_says_the_same(testbed: Testbed):
    stream = Connection(testbed.url).send(chat(f"Repeat exactly: {LINES[0]}", stream=True)).to_the_end()
    assert text_of(stream.body) == LINES[0]


@pytest.mark.parametrize("prefix", ["/api/v0", "/api/v1", "/v0", "/v1"])
def test_every_prefix_answers(client: httpx.Client, prefix: str):
    assert client.get(f"{prefix}/health").json()["status"] == "ok"
    assert content(client.post(f"{prefix}/chat/completions", json=chat("Repeat exactly: hello")))


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("llm", "user.Probe"), ("llm:latest", "user.Probe"), ("Probe", "Probe"), ("user.Probe", "user.Probe")],
)
def test_the_answer_names_what_the_model_stands_for(client: httpx.Client, asked: str, answered: str):
    answer = client.post(CHAT, json=chat("Repeat exactly: hello", model=asked))
    assert answer.json()["model"] == answered


def test_a_whole_answer_is_the_engines_sorted(client: httpx.Client):
    answer = client.post(CHAT, json=chat("Repeat exactly: hello"))
    assert answer.text == json.dumps(answer.json(), sort_keys=True, separators=(",", ":"))
    told = answer.json()
    assert (
        told["usage"]["total_tokens"] == told["usage"]["prompt_tokens"] + told["usage"]["completion_tokens"]
    )
    assert told["timings"]["predicted_n"] == told["usage"]["completion_tokens"]


def test_text_completions_answer_too(client: httpx.Client):
    answer = client.post("/v1/completions", json={"model": "llm", "prompt": "hello", "max_tokens": 3})
    assert answer.json()["object"] == "text_completion"
    assert answer.json()["usage"]["completion_tokens"] <= 3


def test_a_streams_bytes_are_the_engines_own(testbed: Testbed):
    body = chat("Repeat exactly: hello", stream=True, stream_options={"include_usage": True})
    through = Connection(testbed.url).send(body).to_the_end()
    alone = Connection(testbed.backend_url).send(body).to_the_end()
    changing = rb'"(created|id|prompt_n|cache_n|cached_tokens|[a-z_]+_(ms|second))":("[^"]*"|[0-9.]+)'
    assert re.sub(changing, b"", through.body) == re.sub(changing, b"", alone.body)
    assert all(event["model"].endswith(".gguf") for event in events(through.body))
    assert through.body.endswith(b"data: [DONE]\n\n")


def test_a_streams_connection_ends_whatever_its_headers_say(testbed: Testbed):
    stream = Connection(testbed.url).send(chat("Repeat exactly: hello", stream=True)).until(b"0\r\n\r\n")
    assert reused(stream) == b""
    assert "connection: keep-alive" in stream.head
    assert "content-type: text/event-stream" in stream.head
    assert "transfer-encoding: chunked" in stream.head
    assert "x-accel-buffering: no" in stream.head


def reused(connection: Connection) -> bytes:
    """What a second request on the connection gets."""
    try:
        connection.socket.sendall(b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.socket.recv(4096)
    except ConnectionError:
        return b""


def test_a_whole_answers_connection_stays(testbed: Testbed):
    connection = Connection(testbed.url)
    for _ in range(2):
        connection.received = b""
        connection.send(chat("Repeat exactly: hello")).until(b'"total_tokens"')
        assert "keep-alive: timeout=5, max=100" in connection.head
        assert "connection: close" not in connection.head
        assert "server:" not in connection.head
        assert "date:" not in connection.head


def test_the_hundredth_request_closes_its_connection(testbed: Testbed):
    connection = Connection(testbed.url)
    for _ in range(99):
        connection.received = b""
        connection.socket.sendall(b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.until(b'{"status":"ok"}')
        assert "connection: close" not in connection.head
    connection.socket.sendall(b"GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    connection.received = b""
    assert "connection: close" in connection.to_the_end().head


def test_documents_are_gzipped_only_when_that_is_allowed(testbed: Testbed):
    for allowed, encoding in (("gzip", "gzip"), ("identity", None)):
        answer = httpx.get(
            f"{testbed.url}/v1/health", headers={"Accept-Encoding": allowed}, trust_env=False, timeout=30
        )
        assert answer.headers.get("content-encoding") == encoding
        assert answer.json()["status"] == "ok"


def test_a_schemas_fields_come_in_the_order_of_sorted_keys(client: httpx.Client, testbed: Testbed):
    """Lemonade sorts the request's keys, and the schema's grammar follows their order."""
    fields = {"zeta": {"type": "integer"}, "alpha": {"type": "integer"}}
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "s", "schema": schema, "strict": True}}
    asked = (
        "Reply with only one JSON object that has exactly these fields, no Markdown:\n"
        "- zeta (integer): 1\n- alpha (integer): 2"
    )
    through = json.loads(content(client.post(CHAT, json=chat(asked, response_format=form))))
    alone = httpx.post(
        f"{testbed.backend_url}{CHAT}", json=chat(asked, response_format=form), timeout=90, trust_env=False
    )
    assert list(through) == ["alpha", "zeta"]
    assert list(json.loads(content(alone))) == ["zeta", "alpha"]
    assert through == {"zeta": 1, "alpha": 2}
