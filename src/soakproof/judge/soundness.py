"""Values of readings and events as whoever judges may rely on them. Pure; no I/O.

A record's own fields have types; what a reading's values and an event's details hold is free, and evidence
may have been edited. A value that no source of this program can have told is left out, as if it had not been
read, and where that was is told.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace as replaced
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from soakproof.plain import plain
from soakproof.records import Event
from soakproof.samples import Column, Readings
from soakproof.samples.column import ABSENT

_LARGEST = 2**63  # no number of bytes, tokens or seconds comes near it
_MOST_SLOTS = 1 << 16  # of which each is a place in a list


def sound_events(events: Iterable[Event]) -> tuple[tuple[Event, ...], tuple[str, ...]]:
    """The events without details that they cannot have, and where those were."""
    kept, told = [], []
    for event in events:
        details = _sound(event.details, _is_detail)
        kept.append(event if details is None else replace(event, details=details))
        if details is not None:
            told.append(f"{plain(event.what, 60)} of {plain(event.node, 40)}")
    return tuple(kept), tuple(told)


def sound_readings(readings: Iterable[Readings]) -> tuple[tuple[Readings, ...], tuple[str, ...]]:
    """The readings without values that they cannot have, and where those were."""
    kept, told = [], []
    for part in readings:
        wrong = {name: _unsound(name, column) for name, column in part.values.items()}
        masks = {name: mask for name, mask in wrong.items() if mask is not None}
        if not masks:
            kept.append(part)
            continue
        values = {n: c.without(masks[n]) if n in masks else c for n, c in part.values.items()}
        kept.append(replaced(part, values=values))
        nodes = part.node[np.any(list(masks.values()), axis=0)]
        told += [f"{plain(part.source, 60)} of {plain(node, 40)}" for node in nodes]
    return tuple(kept), tuple(told)


def _unsound(name: str, column: Column) -> NDArray[np.bool_] | None:
    """Which of a column's values cannot be; None where all can. What may be a number is a range, so of an
    array of numbers the least and the greatest tell of all.
    """
    of = column.of
    if not isinstance(of, list) and all(_is_value(name, v.item()) for v in (of.min(), of.max())):
        return None
    wrong = np.array([v is not ABSENT and not _is_value(name, v) for v in column.values()], bool)
    return wrong if wrong.any() else None


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
