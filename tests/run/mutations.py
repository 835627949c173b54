"""What may happen to a run's files: lines lost, doubled, moved and edited, bytes torn, flipped and swapped.

Each mutation is a function of a file's bytes and a source of chance; it gives other bytes, or None where it
has nothing to change.
"""

import json
import random
from collections.abc import Callable

Mutation = Callable[[bytes, random.Random], bytes | None]


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def drop(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def double(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    at = chance.randrange(len(lines))
    return b"".join([*lines[:at], lines[at], *lines[at:]])


def halve(data: bytes, chance: random.Random) -> bytes:
    lines = _lines(data)
    return b"".join(lines[: len(lines) // 2])


def turn(data: bytes, chance: random.Random) -> bytes | None:
    lines = _lines(data)
    return b"".join(reversed(lines)) if len(lines) > 1 else None


def move(data: bytes, chance: random.Random) -> bytes | None:
    """One line to the file's end."""
    lines = _lines(data)
    if len(lines) < 3:
        return None
    return b"".join([*lines[1:], lines[0]])


def tear(data: bytes, chance: random.Random) -> bytes:
    """Cut in the middle of a line."""
    cut = chance.randrange(1, len(data))
    return data[: cut if data[cut - 1 : cut] != b"\n" else cut - 1]


def empty(data: bytes, chance: random.Random) -> bytes:
    return b""


def zeros(data: bytes, chance: random.Random) -> bytes:
    """A page of zeros at the end, as a file system leaves it after a loss of power."""
    return data + bytes(4096) + b"\n"


def bad_utf8(data: bytes, chance: random.Random) -> bytes:
    return _inserted(data, b'{"record":"event","node":"\xff\xfe"}\n')


def deep(data: bytes, chance: random.Random) -> bytes:
    nested = b"[" * 20_000 + b"]" * 20_000
    return _inserted(
        data, b'{"record":"event","node":"load","t_ns":1,"what":"x","details":{"a":' + nested + b"}}\n"
    )


def huge_number(data: bytes, chance: random.Random) -> bytes:
    return _inserted(data, b'{"record":"event","node":"load","t_ns":1' + b"0" * 400 + b',"what":"x"}\n')


def _inserted(data: bytes, line: bytes) -> bytes:
    lines = _lines(data)
    return b"".join([*lines[:1], line, *lines[1:]])


def edit(field: str, value: object) -> Mutation:
    """Another value in one field of one line that has it."""

    def mutation(data: bytes, chance: random.Random) -> bytes | None:
        lines = _lines(data)
        having = [n for n, line in enumerate(lines) if _differs(json.loads(line), field, value)]
        if not having:
            return None
        at = chance.choice(having)
        lines[at] = json.dumps({**json.loads(lines[at]), field: value}).encode() + b"\n"
        return b"".join(lines)

    return mutation


def _differs(document: dict[str, object], field: str, value: object) -> bool:
    return document.get(field) is not None and document[field] != value


LINES: dict[str, Mutation] = {
    f.__name__: f for f in (drop, double, halve, turn, move, tear, empty, zeros, bad_utf8, deep, huge_number)
}
