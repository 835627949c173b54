"""Markdown tables, and the fields of a dataclass with their defaults."""

import dataclasses
import inspect
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from source import Named, named
from words import OF_KEYS

from soakproof.units import written

TYPES: Mapping[str, str] = {
    "Seconds": "duration",
    "Tokens": "tokens",
    "Ratio": "share",
    "Bytes": "size",
    "int": "whole number",
    "float": "number",
    "bool": "true or false",
    "str": "text",
    "tuple[str, ...]": "list of texts",
    "date": "date, without quotes",
    "Count": "whole number",
    "Place": "whole number, from 1",
    "Any": "share, or a pair in brackets",
}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table with blank lines around it; columns without any content are left out."""
    listed = [[_cell(text) for text in row] for row in rows]
    kept = [n for n in range(len(heads)) if any(row[n] for row in listed)]
    yield ""
    yield f"| {' | '.join(heads[n] for n in kept)} |"
    yield f"|{'---|' * len(kept)}"
    yield from (f"| {' | '.join(row[n] for n in kept)} |" for row in listed)
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    return f"`{text}`" if text else ""


def in_words(annotation: str, kind: type | None = None) -> str:
    """A field's type for somebody who writes TOML; what ``kind``'s module calls choices is told by them."""
    annotation = annotation.removesuffix(" | None")
    name = annotation.removeprefix("tuple[").removesuffix(", ...]")
    choices = typing.get_args(getattr(inspect.getmodule(kind), name, None))
    if choices:
        listed = ", ".join(code(str(choice)) for choice in choices)
        return f"one of {listed}" if name == annotation else f"list of {listed}"
    if annotation in TYPES or "Literal" in annotation:
        return TYPES.get(annotation, annotation)
    return "table"


def options(kind: type) -> Iterator[tuple[Named, Any]]:
    """The fields of a dataclass with their defaults; MISSING where there is none."""
    defaults = {field.name: _default(field) for field in dataclasses.fields(kind)}
    return ((field, defaults[field.name]) for field in named(kind) if field.name in defaults)


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def shown(default: Any) -> str:
    if default is dataclasses.MISSING:
        return "must be given"
    if dataclasses.is_dataclass(default) or default in ({}, (), "", None):
        return ""
    return code(written(default))


def keys(kind: type, prefix: str = "", comments: Mapping[str, str] | None = None) -> Iterator[str]:
    """The keys of a TOML table. ``comments`` are of another class that says more of the same keys."""
    rows = [
        (code(f.name), in_words(f.annotation, kind), shown(default), _about(f, prefix, comments or {}))
        for f, default in options(kind)
    ]
    return table(("key", "type", "default", "what it is"), rows)


def _about(field: Named, prefix: str, comments: Mapping[str, str]) -> str:
    told = OF_KEYS.get(f"{prefix}{field.name}") or field.comment or comments.get(field.name)
    told = told or OF_KEYS.get(field.name)
    if not told:
        raise SystemExit(f"the key {field.name} has no comment in the source and no words in words.py")
    return told
