"""Streams of the cases varied: cut elsewhere, ended otherwise, with more between their events."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from caseinputs import INPUTS
from hypothesis import strategies as st
from responses import DONE, ROLE, STOP, events, read, text

from soakproof.records import Exchange

# What a reader must make alike of one stream, however it is framed.
ANSWERED = (
    "outcome",
    "failure",
    "text",
    "reasoning",
    "tool_calls",
    "finish_reason",
    "done_marker",
    "token_events",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "parse_errors",
)


def body_of(name: str) -> bytes:
    return (INPUTS / name).read_bytes()


def answered(exchange: Exchange) -> dict[str, Any]:
    return {name: getattr(exchange, name) for name in ANSWERED}


def pieces(body: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    """The body in pieces that end at these places; places beyond its end are taken from its start again."""
    places = sorted({cut % (len(body) + 1) for cut in cuts})
    for start, end in zip([0, *places], [*places, len(body)], strict=True):
        yield body[start:end]


def unescaped(*contents: str) -> bytes:
    """A healthy stream with these deltas, their characters as they are and not as JSON's escapes."""
    frames = [ROLE, *(text(content) for content in contents), STOP]
    return events(*(json.dumps(frame, ensure_ascii=False) for frame in frames), DONE)


def cut(body: bytes, cuts: Iterable[int]) -> Exchange:
    return read(list(pieces(body, cuts)))


def between(body: bytes, inserted: Sequence[tuple[int, bytes]]) -> bytes:
    """The stream with more events or comments between its own; a place is the number of an event."""
    frames = body.split(b"\n\n")
    for place, frame in inserted:
        frames.insert(place % max(1, len(frames) - 1), frame)
    return b"\n\n".join(frames)


CUTS = st.lists(st.integers(0, 100_000), max_size=12)


def inserts(*frames: bytes) -> st.SearchStrategy[list[tuple[int, bytes]]]:
    return st.lists(st.tuples(st.integers(0, 50), st.sampled_from(frames)), max_size=8)
