"""A client that sees what goes over the wire: bytes, times, and how a connection ends."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
import psutil

T = TypeVar("T")
LONG = 60.0  # seconds; far more than anything here takes on a quiet host


def chat(text: str, **more: Any) -> dict[str, Any]:
    """The body of a chat completion with one message of the user."""
    return {"model": "llm", "messages": [{"role": "user", "content": text}], "temperature": 0} | more


def endless(seed: int, tokens: int = 12_000, **more: Any) -> dict[str, Any]:
    """A stream that goes on long after any test has ended it."""
    body = chat("Repeat exactly: hello world 12", stream=True, ignore_eos=True, seed=seed, max_tokens=tokens)
    return body | more


def long_prompt(words: int) -> str:
    return " ".join(f"word{n} thing" for n in range(words))


class Connection:
    """One TCP connection and what has come over it."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.socket = socket.create_connection((address.hostname or "", address.port or 80), timeout=LONG)
        self.received = b""

    def send(self, body: dict[str, Any], path: str = "/v1/chat/completions") -> Self:
        data = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Accept-Encoding: identity\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        self.socket.sendall(head.encode() + data)
        return self

    def until(self, part: bytes) -> Self:
        """Read until ``part`` has come."""
        while part not in self.received:
            data = self.socket.recv(65536)
            assert data, f"the connection ended before {part!r}: {self.received[-300:]!r}"
            self.received += data
        return self

    def to_the_end(self) -> Self:
        """Read until the server closes."""
        while data := self.socket.recv(65536):
            self.received += data
        return self

    def close(self) -> None:
        self.socket.close()

    @property
    def head(self) -> str:
        return self.received.partition(b"\r\n\r\n")[0].decode().lower()

    @property
    def body(self) -> bytes:
        """The body without its chunks' framing; the terminating chunk must be there."""
        left, whole = self.received.partition(b"\r\n\r\n")[2], b""
        while True:
            size, _, left = left.partition(b"\r\n")
            length = int(size, 16)
            if not length:
                assert left == b"\r\n", f"bytes after the last chunk: {left!r}"
                return whole
            whole, left = whole + left[:length], left[length + 2 :]


def events(body: bytes) -> list[dict[str, Any]]:
    """The documents of a stream's events, [DONE] left out."""
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line != b"[DONE]"]


def text_of(body: bytes) -> str:
    deltas = [choice["delta"] for event in events(body) for choice in event.get("choices", [])]
    return "".join(delta.get("content") or "" for delta in deltas)


def get(url: str) -> Any:
    return httpx.get(url, timeout=30, trust_env=False).json()


def entry(url: str) -> dict[str, Any] | None:
    """The loaded model in the health document."""
    loaded = get(f"{url}/v1/health")["all_models_loaded"]
    return dict(loaded[0]) if loaded else None


def busy_seeds(backend_url: str) -> set[int]:
    return {slot["params"]["seed"] for slot in get(f"{backend_url}/slots") if slot["is_processing"]}


def wait_for(condition: Callable[[], T | None], within: float = LONG, every: float = 0.02) -> T:
    """The first true answer."""
    deadline = time.monotonic() + within
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"not within {within} s: {condition}"
        time.sleep(every)
    return answer


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def port_is_open(url: str) -> bool:
    address = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((address.hostname or "", address.port or 0)) == 0
