"""Values of readings and events as whoever judges may rely on them. Pure; no I/O.

A record's own fields have types; what a reading's values and an event's details hold is free, and evidence
may have been edited. A value that no source of this program can have told is left out, as if it had not been
read, and where that was is told.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from soakproof.plain import plain
from soakproof.records import Event, Record, Sample

_LARGEST = 2**63  # no number of bytes, tokens or seconds comes near it
_MOST_SLOTS = 1 << 16  # of which each is a place in a list


def sound_records(records: Iterable[Record]) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The records without values that they cannot have, and where those were."""
    kept, told = [], []
    for record in records:
        sound: Record = record
        if isinstance(record, Sample):
            values = _sound(record.values, _is_value)
            sound = record if values is None else replace(record, values=values)
        elif isinstance(record, Event):
            details = _sound(record.details, _is_detail)
            sound = record if details is None else replace(record, details=details)
        if sound is not record:
            what = record.source if isinstance(record, Sample) else getattr(record, "what", "")
            told.append(f"{plain(what, 60)} of {plain(record.node, 40)}")
        kept.append(sound)
    return tuple(kept), tuple(told)


def _sound(values: Mapping[str, Any], is_sound: Callable[[str, Any], bool]) -> dict[str, Any] | None:
    """The values that are sound; None where all of them are."""
    for name, value in values.items():
        if not is_sound(name, value):
            return {n: v for n, v in values.items() if is_sound(n, v)}
    return None


def _is_value(name: str, value: Any) -> bool:
    return _is_detail(name, value) and (type(value) not in (int, float) or value >= 0)


def _is_detail(name: str, value: Any) -> bool:
    if value is None:
        return True
    if name in _OF:
        return _OF[name](value)
    return _is_number(value) if isinstance(value, (int, float)) else True


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and -_LARGEST <= value <= _LARGEST  # which NaN is not


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -_LARGEST <= value <= _LARGEST


def _is_slots(value: Any) -> bool:
    return _is_whole(value) and 0 <= value <= _MOST_SLOTS


def _is_wholes(value: Any) -> bool:
    is_list = isinstance(value, (list, tuple)) and len(value) <= _MOST_SLOTS
    return is_list and all(v is None or _is_whole(v) for v in value)


def _is_numbers(value: Any) -> bool:
    is_list = isinstance(value, (list, tuple)) and len(value) <= _MOST_SLOTS
    return is_list and all(v is None or (_is_number(v) and not isinstance(v, bool)) for v in value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(v is None or isinstance(v, str) for v in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# What is read by name. Of any other value only a number is looked at: sources and events may tell more.
_OF: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("busy", "total", "seedless"), _is_slots),
    **dict.fromkeys(("pid", "was_pid", "is_pid", "fds", "threads"), _is_whole),
    **dict.fromkeys(
        (
            *("seeds", "tasks", "last_tasks", "decoded", "prompt_processed", "prompt_tokens"),
            *("max_tokens", "ids", "pids"),
        ),
        _is_wholes,
    ),
    "temperatures": _is_numbers,
    **dict.fromkeys(("name", "role", "reason"), _is_text),
    "models_loaded": _is_texts,
    **dict.fromkeys(("created", "was_created", "is_created"), _is_number),
}
