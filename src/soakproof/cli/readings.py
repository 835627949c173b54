"""Values of the watch's readings in words, with their units, as `soakproof doctor` tells them."""

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime

_GIB = 2**30
_WORDS: Mapping[str, str] = {
    "memory_some_avg10_percent": "some waited for memory in the last 10 s",
    "memory_full_avg10_percent": "all waited for memory in the last 10 s",
    "memory_some_total_us": "some since the start",
    "memory_full_total_us": "all since the start",
    "created": "started",
}
_UNITS: Mapping[str, Callable[[float], str]] = {
    "bytes": lambda value: f"{value / _GIB:.2f} GiB",
    "percent": lambda value: f"{value:g} %",
    "celsius": lambda value: f"{value:g} °C",
    "watts": lambda value: f"{value:.3g} W",
    "hz": lambda value: f"{value / 1e9:.2f} GHz",
    "us": lambda value: f"{value / 1e6:,.1f} s",
    "ms": lambda value: f"{value / 1e3:,.3g} s",
    "s": lambda value: f"{value:,.3g} s",
}


def in_words(name: str, value: object) -> str:
    """``available 3.00 GiB`` for the value ``available_bytes`` of a record."""
    stem, _, unit = name.rpartition("_")
    words = _WORDS.get(name) or (stem if unit in _UNITS else name).replace("_", " ")
    if name == "pid" or not isinstance(value, (int, float)) or isinstance(value, bool):
        return f"{words} {value}"
    if name == "created":
        with contextlib.suppress(OverflowError, ValueError, OSError):  # no time of this calendar
            return f"{words} {datetime.fromtimestamp(value):%Y-%m-%d %H:%M:%S}"
    return f"{words} {_UNITS[unit](value) if unit in _UNITS else f'{value:,g}'}"
