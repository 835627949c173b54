"""An answer put together from stream chunks, or from one document. No I/O, no clock.

`chunk` and `document` take what the server sent as JSON values; they raise for nothing in it.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from soakproof.reading.delta import EMPTY, Delta, ToolCalls, read_delta
from soakproof.reading.finish import Meaning, meaning
from soakproof.reading.notes import Notes, printable

ASSISTANT = "assistant"
NAME_CHARS = 300
MOST_IDS = 8  # beside the first
KEPT_CHARS = 64 * 1024  # of each kind of text of an answer that has no end


class Answer:
    """The text of each kind, the finish reason, and what the server says about its own work."""

    def __init__(self, notes: Notes) -> None:
        self.finish_reason: str | None = None
        self.finish: Meaning = "none"  # what that says
        self.text_after_finish = False  # so that a finish reason alone does not prove the end
        self.usage: dict[str, Any] | None = None  # the last one, as sent
        self.timings: dict[str, Any] | None = None
        self.calls = ToolCalls()
        self.choices_seen = False
        self.own_choice_seen = False  # the one that was asked for, of index 0
        self.other_index = ""  # of the first other one
        self.chars = 0  # of all that is kept
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._notes = notes
        self._model: Any = None
        self._id: Any = None
        self._other_ids: dict[str, None] = {}
        self._created: Any = None
        self._fingerprint = ""

    @property
    def model(self) -> str | None:
        return printable(self._model, NAME_CHARS) if self._model else None

    @property
    def id(self) -> str | None:
        return printable(self._id, NAME_CHARS) if self._id else None

    @property
    def fingerprint(self) -> str | None:
        return printable(self._fingerprint, NAME_CHARS) if self._fingerprint else None

    @property
    def other_ids(self) -> tuple[str, ...]:
        """Ids of chunks that are not called as the first one is."""
        return tuple(self._other_ids)

    @cached_property
    def text(self) -> str:
        """All of the answer. Once asked for, it is final."""
        return _joined(self._content, self._notes)

    @cached_property
    def reasoning(self) -> str:
        return _joined(self._reasoning, self._notes)

    def thought(self) -> bool:
        """Whether the model reasoned, shown or hidden."""
        details = (self.usage or {}).get("completion_tokens_details")
        hidden = details.get("reasoning_tokens") if isinstance(details, Mapping) else None
        return bool(self.reasoning) or (isinstance(hidden, (int, float)) and hidden > 0)

    def chunk(self, document: Mapping[str, Any]) -> Delta:
        """Take one chunk of a stream; what it adds, empty when that is nothing."""
        self._about(document)
        choice = self._choice(document)
        return EMPTY if choice is None else self._take(choice, self._delta(choice))

    def document(self, document: Mapping[str, Any]) -> None:
        """Take the whole body of an answer that was not streamed."""
        self._about(document)
        choice = self._choice(document)
        if choice is not None:
            message = choice.get("message")
            self._take(choice, message if isinstance(message, Mapping) else {"content": choice.get("text")})

    def shorten(self) -> None:
        """Keep the beginning of each text only."""
        self._content = _beginning(self._content)
        self._reasoning = _beginning(self._reasoning)
        self.calls.shorten(KEPT_CHARS)

    def _take(self, choice: Mapping[str, Any], message: Mapping[str, Any]) -> Delta:
        delta = read_delta(message, self._notes)
        role = message.get("role")
        if isinstance(role, str) and role.strip().lower() not in ("", ASSISTANT):
            self._notes.add("role_not_assistant", role)
        if delta.calls and not self.calls.add(delta.calls, self._notes):
            delta = delta._replace(calls=())
        self.chars += (
            len(delta.content) + len(delta.reasoning) + (self.calls.last_chars if delta.calls else 0)
        )
        if delta.content:
            self._content.append(delta.content)
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
        if self.finish in ("whole", "gave_up") and any(delta):
            self.text_after_finish = True
            self._notes.add("text_after_finish")
        finish = choice.get("finish_reason")
        if finish is not None:
            self._finish(finish)
        return delta

    def _delta(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            return delta
        if isinstance(choice.get("text"), str):
            self._notes.add("completions_style")
            return {"content": choice["text"]}
        message = choice.get("message")
        if isinstance(message, Mapping):
            self._notes.add("message_in_stream")
            return {} if self._content else message  # after deltas it repeats the whole answer
        if delta is not None:
            self._notes.add("delta_not_object")
        return {}

    def _finish(self, finish: Any) -> None:
        if not isinstance(finish, str):
            self._notes.add("finish_reason_not_text")
            return
        found = meaning(finish)
        if found == "none":
            self._notes.add("finish_reason_empty", finish)
            return
        shown = printable(finish, 64)
        if self.finish in ("whole", "gave_up"):
            if found == "unknown" or shown == self.finish_reason:
                return
            self._notes.add("second_finish_reason", finish)
            if found == "whole" and (self.finish == "gave_up" or not self.text_after_finish):
                return
        self.finish_reason, self.finish = shown, found

    def _choice(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The choice that we asked for. Others are told, and are no part of the answer."""
        choices = document.get("choices")
        if not isinstance(choices, list):
            return None
        self.choices_seen = True
        found = None
        for choice in choices:
            if not isinstance(choice, Mapping):
                self._notes.add("choice_not_object")
            elif choice.get("index") in (0, None, "0") and found is None:
                found = choice
                self.own_choice_seen = True
            else:
                self._notes.add("other_choices")
                self.other_index = self.other_index or printable(str(choice.get("index"))[:40], 40)
        return found

    def _about(self, document: Mapping[str, Any]) -> None:
        """Identity, usage and timings: they may stand in any chunk."""
        usage, timings = document.get("usage"), document.get("timings")
        if usage is not None:
            self.usage = self._object(usage, "usage") or self.usage
        if timings is not None:
            self.timings = self._object(timings, "timings") or self.timings
        self._id = self._same(self._id, document.get("id"), "id_changed", str)
        fingerprint = document.get("system_fingerprint")
        if not self._fingerprint and isinstance(fingerprint, str):
            self._fingerprint = fingerprint
        self._another_id(document.get("id"))
        self._created = self._same(self._created, document.get("created"), "created_changed", int)
        self._model = self._same(self._model, document.get("model"), "model_changed", str)

    def _another_id(self, value: Any) -> None:
        if value and value != self._id and isinstance(value, str) and len(self._other_ids) < MOST_IDS:
            self._other_ids[printable(value, NAME_CHARS)] = None

    def _same(self, first: Any, value: Any, note: str, kind: type) -> Any:
        """The first value that says anything; Azure begins with an empty one."""
        if not value or value == first or not isinstance(value, kind):
            return first
        if first is not None:
            self._notes.add(note)
            return first
        return value

    def _object(self, value: Any, name: str) -> dict[str, Any] | None:
        if isinstance(value, dict):
            return value
        self._notes.add(f"{name}_not_object")
        return None


def _beginning(pieces: list[str]) -> list[str]:
    """The first characters of the pieces; never all of them in one text, which takes as much again."""
    kept: list[str] = []
    left = KEPT_CHARS
    for piece in pieces:
        kept.append(piece[:left])
        left -= len(kept[-1])
        if not left:
            break
    return kept


def _joined(pieces: list[str], notes: Notes) -> str:
    """The pieces as one text; halves of a surrogate pair that two pieces share become their character."""
    text = "".join(pieces)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        notes.add("surrogates")
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if "\ufffd" in text:
        notes.add("replacement_character")
    return text
