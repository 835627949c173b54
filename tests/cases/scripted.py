"""Replays the inputs of the public fault cases over real sockets, as the prompt names them: "case: <name>".

What took a minute takes a second and a half here. A document is named with its place in the file: "x.json 0".
"""

import json
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from caseinputs import INPUTS
from misbehaving import LAST, STREAM_HEAD, chunk, document, request_of, reset, serving

SPEED = 40
PIECE = 97  # bytes of each chunk of what has no times: no event and no character ends with it


def scripted() -> AbstractContextManager[str]:
    """The address of such a server, as long as the block lasts."""
    return serving(_serve)


def documents(file: str) -> list[dict[str, Any]]:
    """The request and response pairs of a file, whatever it calls them."""
    found = json.loads((INPUTS / file).read_text())
    pairs: list[dict[str, Any]] = found.get("pairs") or found.get("cases") or [found]
    return pairs


def _serve(connection: socket.socket) -> None:
    _, body = request_of(connection)
    name = json.loads(body)["messages"][-1]["content"].removeprefix("case: ")
    file, _, place = name.partition(" ")
    if place:
        connection.sendall(document("200 OK", documents(file)[int(place)]["response"]))
        return
    for ending, how in _HOW.items():
        if file.endswith(ending):
            how(connection, (INPUTS / file).read_bytes())


def _stream(connection: socket.socket, body: bytes) -> None:
    connection.sendall(STREAM_HEAD)
    for start in range(0, len(body), PIECE):
        connection.sendall(chunk(body[start : start + PIECE]))
    connection.sendall(LAST)


def _script(connection: socket.socket, text: bytes) -> None:
    script = json.loads(text)
    for place, piece in enumerate(script["chunks"]):
        time.sleep(piece["after_ms"] / 1000 / SPEED)
        if place == 0:
            connection.sendall(STREAM_HEAD)
        data = piece["text"].encode() if "text" in piece else bytes.fromhex(piece["hex"])
        connection.sendall(chunk(data))
    if script["end"] == "close":
        connection.sendall(LAST)
    elif script["end"] == "hang":
        with suppress(OSError):
            connection.recv(1)  # until the client goes
    else:
        time.sleep(0.1)  # or the reset overtakes the data
        reset(connection)


_HOW: dict[str, Callable[[socket.socket, bytes], None]] = {
    ".sse": _stream,
    ".script.json": _script,
    ".http": lambda connection, raw: connection.sendall(raw),
}
