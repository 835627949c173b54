"""What one delta (or a whole message) of a choice holds, whatever server wrote it. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from soakproof.reading.notes import Notes

MAX_TOOL_CALLS = 256


class Delta(NamedTuple):
    """The text of each kind in one delta; empty where there is none."""

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: Sequence[Any] = ()  # entries of tool_calls, as sent


EMPTY = Delta()


def read_delta(delta: Mapping[str, Any], notes: Notes) -> Delta:
    """From ``choices[0].delta`` or ``.message``."""
    content = delta.get("content")
    reasoning = _reasoning(delta)
    if isinstance(content, list):
        notes.add("content_parts")
        content, thought = _parts(content)
        reasoning += thought
    elif content is None:
        content = ""
    elif not isinstance(content, str):
        notes.add("content_not_text", type(content).__name__)
        content = ""
    refusal = _text(delta.get("refusal"))
    if refusal:
        notes.add("refusal", refusal)
    return Delta(content, reasoning, refusal, _calls(delta))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _reasoning(delta: Mapping[str, Any]) -> str:
    """llama.cpp says reasoning_content; vLLM renamed it to reasoning, and some servers send both alike."""
    first, second = _text(delta.get("reasoning_content")), _text(delta.get("reasoning"))
    return first if first == second else first + second


def _parts(parts: Sequence[Any]) -> tuple[str, str]:
    """Text and thinking of a list of content parts."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            texts.append(_text(part.get("text")))
            thinking = part.get("thinking")
            inner = thinking if isinstance(thinking, list) else [thinking]
            thoughts += [_text(t.get("text")) if isinstance(t, Mapping) else _text(t) for t in inner]
    return "".join(texts), "".join(thoughts)


def _calls(delta: Mapping[str, Any]) -> Sequence[Any]:
    calls = delta.get("tool_calls")
    if isinstance(calls, list) and calls:
        return calls
    legacy = delta.get("function_call")
    return [{"index": 0, "function": legacy}] if isinstance(legacy, Mapping) else ()


class ToolCalls:
    """Tool calls put together from their fragments."""

    def __init__(self) -> None:
        self.last_chars = 0  # characters that the last entries brought
        self._calls: dict[
            int, tuple[dict[str, None], list[str]]
        ] = {}  # index -> pieces of name and arguments

    def add(self, entries: Sequence[Any], notes: Notes) -> bool:
        """Whether these entries brought anything: a name or a piece of the arguments."""
        brought = False
        self.last_chars = 0
        for position, entry in enumerate(entries):
            function = entry.get("function") if isinstance(entry, Mapping) else None
            if not isinstance(function, Mapping):
                continue
            index = entry.get("index")
            key = index if isinstance(index, int) else position
            if key not in self._calls and len(self._calls) >= MAX_TOOL_CALLS:
                notes.add("too_many_tool_calls")
            else:
                brought = self._fragment(key, function) or brought
        return brought

    def _fragment(self, key: int, function: Mapping[str, Any]) -> bool:
        name, more = _text(function.get("name")), _arguments(function.get("arguments"))
        if not (name or more):
            return False
        names, arguments = self._calls.setdefault(key, ({}, []))
        if name and name not in names:  # some servers repeat it with every fragment
            names[name] = None
            self.last_chars += len(name)
        if more:
            arguments.append(more)
            self.last_chars += len(more)
        return True

    def shorten(self, limit: int) -> None:
        """Keep so many characters of the first call, and no other."""
        first = dict(list(self._calls.items())[:1])
        self._calls = {
            key: ({"".join(names)[:limit]: None}, ["".join(arguments)[:limit]])
            for key, (names, arguments) in first.items()
        }

    def __str__(self) -> str:
        """``[{"name": .., "arguments": ".."}, ..]`` in the order of their indexes; empty without calls."""
        made = [
            {"name": whole("".join(names)), "arguments": whole("".join(arguments))}
            for _, (names, arguments) in sorted(self._calls.items())
        ]
        return orjson.dumps(made).decode() if made else ""


def _arguments(value: Any) -> str:
    """The arguments are JSON in a string; some servers send the object itself."""
    if isinstance(value, Mapping):
        try:
            return orjson.dumps(value).decode()
        except TypeError:
            return ""
    return _text(value)


def whole(text: str) -> str:
    """The text with what UTF-8 cannot carry replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
