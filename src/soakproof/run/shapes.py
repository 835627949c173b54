"""What stands where in run.json and raw.json, so that whoever judges may rely on it. No I/O.

A document may come from a killed run, an older program or somebody's editor: any part may be missing. A part
of another type than this program writes is left out as if it were missing, and told as a problem.
"""

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.plain import plain

_Told = Callable[[str, str, Any], None]  # where, what was expected, what was found


@dataclass(frozen=True, slots=True)
class _One:
    """A single value."""

    expected: str
    types: tuple[type, ...]

    def read(self, value: Any, where: str, told: _Told) -> Any:
        if isinstance(value, self.types) and (bool in self.types or not isinstance(value, bool)):
            return value
        told(where, self.expected, value)
        return None


@dataclass(frozen=True, slots=True)
class _Object:
    """An object with these keys; others are kept as they are. Without what it ``needs`` it means nothing."""

    keys: Mapping[str, Any]
    needs: str = ""

    def read(self, value: Any, where: str, told: _Told) -> Any:
        if not isinstance(value, Mapping):
            told(where, "an object", value)
            return None
        read = {key: _read(self.keys.get(key), item, f"{where}{key}.", told) for key, item in value.items()}
        kept = {key: item for key, item in read.items() if item is not None or value[key] is None}
        if self.needs and kept.get(self.needs) is None:
            told(where, f"an object with {self.needs}", value)
            return None
        return kept


@dataclass(frozen=True, slots=True)
class _Each:
    """An object whose every value has one shape; nothing that is null."""

    shape: Any

    def read(self, value: Any, where: str, told: _Told) -> Any:
        if not isinstance(value, Mapping):
            told(where, "an object", value)
            return None
        read = {key: _read(self.shape, item, f"{where}{key}.", told) for key, item in value.items()}
        return {key: item for key, item in read.items() if item is not None}


@dataclass(frozen=True, slots=True)
class _List:
    """A list whose every item has one shape."""

    shape: Any

    def read(self, value: Any, where: str, told: _Told) -> Any:
        if not isinstance(value, list):
            told(where, "a list", value)
            return None
        read = [_read(self.shape, item, f"{where}{n}.", told) for n, item in enumerate(value, 1)]
        return [item for item in read if item is not None]


def _read(shape: Any, value: Any, where: str, told: _Told) -> Any:
    return value if shape is None or value is None else shape.read(value, where, told)


_TEXT = _One("a text", (str,))
_NUMBER = _One("a number", (int, float))
_WHOLE = _One("a whole number", (int,))
_FLAG = _One("true or false", (bool,))
_TEXTS = _List(_TEXT)
_ENDED = _Object({"why": _TEXT, "reason": _TEXT})
_KIND = {
    **dict.fromkeys(("name", "scenario"), _TEXT),
    **dict.fromkeys(("count", "width"), _WHOLE),
    "checks": _TEXTS,
    "registers": _FLAG,
}
_THRESHOLD = {"name": _TEXT, "that": _TEXT, "why": _TEXT}
_PLAN = {
    **dict.fromkeys(("name", "title", "source"), _TEXT),
    **dict.fromkeys(("duration_s", "drain_s", "think_time_s"), _NUMBER),
    **dict.fromkeys(("users", "seed", "deck"), _WHOLE),
    "queueing": _FLAG,
    "kinds": _List(_Object({**_KIND, "options": _Object({})}, needs="name")),
    "bounds": _Each(_NUMBER),
    "watch": _Each(_NUMBER),
    "thresholds": _List(_Object(_THRESHOLD, needs="name")),
}
_TARGET = {  # what a server said of itself may have any type
    **dict.fromkeys(("kind", "base_url", "prefix", "model", "model_resolved"), _TEXT),
    **dict.fromkeys(("slots_url", "backend_url"), _TEXT),
    **dict.fromkeys(("slots", "slot_context", "backend_pid"), _WHOLE),
    **dict.fromkeys(("local", "testbed", "embedded"), _FLAG),
    "chars_per_token": _NUMBER,
    "remarks": _TEXTS,
    "launch_command": _TEXTS,
}
_RUN = _Object(
    {
        **dict.fromkeys(("id", "program", "state", "started_at", "boot_id"), _TEXT),
        **dict.fromkeys(("zero_ns", "load_started_ns", "load_stopping_ns", "load_ended_ns"), _WHOLE),
        "plan": _Object(_PLAN),
        "target": _Object(_TARGET),
        "around": _Object({"slots": _WHOLE, "slot_context": _WHOLE, "chars_per_token": _NUMBER}),
        "host": _Object({}),
        "versions": _Each(_TEXT),
        "digests": _Object({"plan": _TEXT, "scenarios": _Each(_TEXT), "prompts": _Each(_TEXT)}),
        "locust": _Each(_WHOLE),
        "arguments": _Object({}),
        "ended": _ENDED,
    }
)
_FAILURE = _Object({"exchange": _TEXT, "value": _NUMBER})
_RAW = _Object(
    {
        "outcome": _TEXT,
        "exit_code": _WHOLE,
        "thresholds": _List(
            _Object(
                {
                    **_THRESHOLD,
                    **dict.fromkeys(("outcome", "unit", "reason"), _TEXT),
                    **dict.fromkeys(("n", "failed"), _WHOLE),
                    "observed": _NUMBER,
                    "failures": _List(_FAILURE),
                },
                needs="name",
            )
        ),
        "checks": _Each(_Each(_WHOLE)),
        "exchanges": _Object(
            {
                **dict.fromkeys(("opened", "closed", "ok", "fail", "unknown"), _WHOLE),
                "by_failure": _Each(_WHOLE),
            }
        ),
        "iterations": _Each(_Each(_WHOLE)),
        "ended": _ENDED,
        "first_failures": _TEXTS,
    }
)


def shaped_run(document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """run.json without what is of a wrong type, and what that was, in words."""
    return _shaped(_RUN, document, "run.json")


def shaped_raw(document: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The same for raw.json."""
    return _shaped(_RAW, document, "raw.json")


def _shaped(shape: _Object, document: Mapping[str, Any], name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    problems: list[str] = []

    def told(where: str, expected: str, found: Any) -> None:
        place = plain(where.removesuffix("."), 100)
        problems.append(f"{name}: {place}: expected {expected}, found {plain(reprlib.repr(found), 60)}")

    return shape.read(document, "", told), tuple(problems)
