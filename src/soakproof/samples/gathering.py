"""Lines of samples to columns, some MiB of lines at a time. No I/O."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np
from msgspec import DecodeError, Raw, Struct, defstruct, json
from msgspec.structs import astuple

from soakproof.nesting import TooDeepError, bounded
from soakproof.records import TAGS, Int64, Sample, SourceState, one_a_line
from soakproof.samples.column import ABSENT, Column, column, columns
from soakproof.samples.readings import Readings, of_columns, of_samples, one_after_the_other

Key = tuple[str, str]  # node, source


class _Line(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag=TAGS[Sample]):
    """A sample's line with its values unread: which there are depends on the source."""

    node: str
    source: str
    due_ns: Int64
    t_ns: Int64
    took_ns: Int64
    state: SourceState
    values: Raw = Raw(b"{}")
    reason: str = ""


_LINES = json.Decoder(_Line)
_TABLE = json.Decoder(dict[str, Any])


class Gathering:
    """Takes lines, or single samples, and gives back a `Readings` for each source of each node."""

    def __init__(self) -> None:
        self._parts: dict[Key, list[Readings]] = defaultdict(list)

    def add_lines(self, block: bytes, first: int) -> int | None:
        """Whole lines, of which the first has this number; how many there were, or None unless each is a
        sample: then none of them was taken.
        """
        try:
            read = _LINES.decode_lines(block)
            if not one_a_line(block, len(read)):
                return None
            groups = _grouped(read, first)
            made = {key: _part(key[1], *of) for key, of in groups.items()}
        except (DecodeError, RecursionError, TooDeepError):
            return None
        for key, part in made.items():
            self._parts[key].append(part)
        return len(read)

    def add(self, samples: Iterable[tuple[int, Sample]]) -> None:
        """Samples that were read one by one, each with its line."""
        for part in of_samples(samples):
            self._parts[str(part.node[0]), part.source].append(part)

    def readings(self) -> tuple[Readings, ...]:
        """All of it: a source of a node each, in the order of the lines."""
        return tuple(one_after_the_other(parts) for parts in self._parts.values())


def _grouped(read: Sequence[_Line], first: int) -> Mapping[Key, tuple[list[_Line], list[int]]]:
    groups: dict[Key, tuple[list[_Line], list[int]]] = {}
    keys = map(attrgetter("node", "source"), read)
    for place, (key, line) in enumerate(zip(keys, read, strict=True), first):
        group = groups.get(key)
        if group is None:
            groups[key] = group = ([], [])
        group[0].append(line)
        group[1].append(place)
    return groups


def _part(source: str, lines: list[_Line], places: list[int]) -> Readings:
    values = _columns([line.values for line in lines])
    _refuse_deep(values.values())
    return of_columns(source, lines, np.array(places, np.int64), values)


def _refuse_deep(values: Iterable[Column]) -> None:
    """Raises TooDeepError where a line is nested too deep: a value stands in it on the third level."""
    for kept in (value.of for value in values if isinstance(value.of, list)):
        for document in {id(v): v for v in kept if isinstance(v, (dict, list))}.values():
            bounded([[document]])


def _columns(values: Sequence[Raw]) -> dict[str, Column]:
    """Values of one source: nearly always of one shape, or none at all."""
    names = tuple(next((t for v in values if (t := _TABLE.decode(v))), {}))
    told = [v for v in values if bytes(v) != b"{}"]
    if not told:
        return {}
    try:
        rows = _shape(names).decode(b"[" + b",".join(told) + b"]")
    except DecodeError:
        return columns([_TABLE.decode(v) for v in values])
    told_columns = zip(*map(astuple, rows), strict=True)
    if len(told) == len(values):
        return {name: column(c) for name, c in zip(names, told_columns, strict=True)}
    is_told = [bytes(v) != b"{}" for v in values]
    return {name: column(_spread(c, is_told)) for name, c in zip(names, told_columns, strict=True)}


def _spread(values: Sequence[Any], is_told: Sequence[bool]) -> list[Any]:
    left = iter(values)
    return [next(left) if told else ABSENT for told in is_told]


@lru_cache(maxsize=256)
def _shape(names: tuple[str, ...]) -> json.Decoder[list[Struct]]:
    """Reads many tables that have exactly these keys."""
    fields = [(f"f{n}", Any) for n in range(len(names))]
    renamed = {f"f{n}": name for n, name in enumerate(names)}
    kind = defstruct("Values", fields, rename=renamed, forbid_unknown_fields=True, gc=False)
    return json.Decoder(list[kind])  # type: ignore[valid-type]
