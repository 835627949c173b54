"""The watch's sources, each asked once of a server that answers its paths as a test says."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import trio
from misbehaving import document, request_of, serving

from soakproof.watch.backend_slots import BackendSlots
from soakproof.watch.health import Health
from soakproof.watch.http import Http
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, Source, read_bounded

HANGS = b""  # as an answer: none, for as long as the client waits


def answering(answers: Mapping[str, bytes]) -> AbstractContextManager[str]:
    """The address of a server with these raw responses by path; 404 for any other."""

    def act(connection: socket.socket) -> None:
        head, _ = request_of(connection)
        found = answers.get(head.split()[1].decode(), document("404 Not Found", {}))
        if found == HANGS:
            connection.recv(1)
        connection.sendall(found)

    return serving(act)


def health(url: str) -> Reading:
    config, http, known = _llamacpp(url)
    return look(Health(config, http, known, 10))


def slots(url: str, bound_s: float = 10) -> Reading:
    config, http, known = _llamacpp(url)
    return look(BackendSlots(config, http, known, bound_s))


def _llamacpp(url: str) -> tuple[WatchConfig, Http, Known]:
    config = WatchConfig(target={"kind": "llamacpp", "base_url": url, "prefix": "/v1"})
    return config, Http(config), Known(config)


def look(source: Source) -> Reading:
    async def once() -> Sequence[Any]:
        return await read_bounded(source)

    (found,) = trio.run(once)
    assert isinstance(found, Reading)
    return found
