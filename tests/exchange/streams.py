"""Healthy streams in the dialects of many servers, made up at random; and what goes wrong with them.

A stream is a list of frames, each with its blank line, so that a test knows which of them holds the finish.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

ENDS = ("stop", "length", "tool_calls", "eos_token", "end_turn", "MAX_TOKENS", "content_filter")
GOING_ON = (None, "", "null", "NOT_FINISHED")
HEARTBEATS = (
    b": ping",
    b":",
    b"data: {}",
    b"data: null",
    b'data: "ping"',
    b"data: 1",
    b"event: ping\ndata: {}",
    b"event: note\ndata: some words",
    b'data: {"status":"queued","detail":"position 3"}',
    b'data: {"choices":[],"prompt_progress":{"processed":3}}',
    b"retry: 3000",
    b"id: 7",
    b"",
)
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


@dataclass(frozen=True)
class Stream:
    """``finish`` is the place of the frame by which the answer ends; ``text`` what it says in all."""

    frames: tuple[bytes, ...]
    finish: int
    text: str
    reasoning: str
    line_end: bytes
    done: bool

    @property
    def body(self) -> bytes:
        return b"".join(self.frames)

    @property
    def unfinished(self) -> int:
        """The most bytes of the body without which the answer has no end: all but the finish's blank line."""
        return sum(map(len, self.frames[: self.finish + 1])) - len(self.line_end)


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    line_end = draw(st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"]))
    head = draw(st.sampled_from([b"", b"event: message\n", b"id: 3\n"]))
    space = draw(st.sampled_from([b" ", b""]))
    going_on = draw(st.sampled_from(GOING_ON))
    shape = draw(st.sampled_from(["chat", "chat", "completions", "parts"]))

    def frame(document: Any) -> bytes:
        told = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
        return (head + b"data:" + space + told + b"\n\n").replace(b"\n", line_end)

    def choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
        content = delta.get("content")
        if shape == "completions" and content:
            return {"choices": [{"index": 0, "text": content, "finish_reason": finish}]}
        if shape == "parts" and content:
            delta = {"content": [{"type": "text", "text": content}]}
        return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "model": "m1", "id": "c1"}

    words = draw(st.lists(st.text(_LETTERS, min_size=1, max_size=6), min_size=1, max_size=5))
    thoughts = draw(st.lists(st.text("abc ", min_size=1, max_size=4), max_size=3))
    end = draw(st.sampled_from(ENDS))
    apart = draw(st.booleans())  # the finish reason in a chunk of its own
    frames = [frame(choice({"role": "assistant"}, going_on))]
    frames += [frame(choice({"reasoning_content": thought}, going_on)) for thought in thoughts]
    frames += [frame(choice({"content": word}, going_on)) for word in (words if apart else words[:-1])]
    frames.append(frame(choice({} if apart else {"content": words[-1]}, end)))
    finish = len(frames) - 1
    if draw(st.booleans()):
        frames.append(frame({"choices": [], "usage": USAGE, "error": None}))
    done = draw(st.booleans())
    if done:
        frames.append(frame(b"[DONE]"))
    for place, beat in draw(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(HEARTBEATS)), max_size=4)):
        at = min(place, len(frames) - done)  # behind [DONE] nothing is healthy
        frames.insert(at, (beat + b"\n\n").replace(b"\n", line_end))
        finish += at <= finish
    return Stream(tuple(frames), finish, "".join(words), "".join(thoughts), line_end, done)


# Letters that JSON leaves as they are: each of one to four bytes, so that a cut can come within one.
_LETTERS = st.sampled_from("ab 1.é\u4e16🌍")


def pieces(body: bytes, cuts: Sequence[int]) -> list[bytes]:
    """The body in pieces that end at these places, taken modulo its length."""
    places = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    return [body[a:b] for a, b in pairwise(places)]


def singly(body: bytes) -> list[bytes]:
    return [body[n : n + 1] for n in range(len(body))]


CUTS = st.lists(st.integers(0, 100_000), max_size=10)
JUNK = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [
            b"data: {oops\n\n",
            b"data: [DONE]\n\n",
            b'data: {"error":{"message":"boom"}}\n\n',
            b'{"error":"boom"}\n\n',
            b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
            b'data: {"choices":[{"index":"0","finish_reason":7,"error":{"message":[1]}}]}\n\n',
            b"event: error\n",
            b"<html>",
            b"\r",
            b"\n\n",
            b"\xef\xbb\xbf",
            b"0\r\n\r\n",
        ]
    ),
)


@st.composite
def mutated_frames(draw: st.DrawFn, frames: Sequence[bytes]) -> list[bytes]:
    """Whole frames dropped, doubled or put elsewhere."""
    made = list(frames)
    for _ in range(draw(st.integers(1, 4))):
        if not made:
            break
        at = draw(st.integers(0, len(made) - 1))
        what = draw(st.sampled_from(["drop", "double", "move"]))
        frame = made[at] if what == "double" else made.pop(at)
        if what != "drop":
            made.insert(draw(st.integers(0, len(made))), frame)
    return made


@st.composite
def mutated_bytes(draw: st.DrawFn, body: bytes) -> bytes:
    """Bytes flipped, left out, put in and cut off, wherever that is."""
    made = bytearray(body)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(made)))
        what = draw(st.sampled_from(["flip", "flip", "drop", "insert", "cut"]))
        if what == "insert":
            made[at:at] = draw(JUNK)
        elif what == "cut":
            del made[at:]
        elif what == "drop":
            del made[at : at + draw(st.integers(1, 20))]
        elif at < len(made):
            made[at] ^= 1 << draw(st.integers(0, 7))
    return bytes(made)
