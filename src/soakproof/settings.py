"""TOML into frozen, validated dataclasses, with errors that name the file, the key and what was expected."""

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from soakproof.errors import UsageError, did_you_mean
from soakproof.lines import FAULTS, file_of, told
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.units import Bytes, Ranges, Ratio, Seconds, Tokens, per_cent_hint, written

T = TypeVar("T")
_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
    "date": "a date",
    "datetime": "a date with a time",
    "time": "a time",
}


def read_toml(path: Path) -> dict[str, Any]:
    """The table of a TOML file."""
    try:
        return bounded(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from error


def build(kind: type[T], table: Mapping[str, Any], where: str) -> T:
    """A dataclass from a TOML table; ``where`` (file and key) begins each error.

    Unknown keys are refused, with the nearest known one; quantities are parsed by their unit, and have to be
    within the class's `Ranges`, if it has any. The class may be a user's own: what is wrong with it ends in
    the same error.
    """
    try:
        _refuse_unknown(kind, table, where)
        made = msgspec.convert(dict(table), kind, dec_hook=_quantity)
        _refuse_out_of_range(made, where)
        return made
    except UsageError:
        raise
    except (msgspec.ValidationError, ValueError) as error:
        problem = _plain(str(error))
        at, _, wrong = problem.rpartition(": ")
        hint = f"write [[{at}]] above each" if at and wrong == "expected a list, found a table" else ""
        raise UsageError(f"{where}: {plain(problem, 400)}", hint) from None
    except FAULTS as error:
        why = told(error, file_of(kind))
        raise UsageError(f"{where}: {kind.__name__} cannot be made: {why}") from error


def _quantity(kind: type, value: Any) -> Any:
    if issubclass(kind, (Seconds, Tokens, Ratio, Bytes)):
        return kind.parse(value)
    raise NotImplementedError(kind)


def _refuse_out_of_range(made: Any, where: str) -> None:
    """Raises UsageError for an option that is well-formed and beyond what its class can work with."""
    ranges = getattr(made, "ranges", None)
    for name, (least, most) in ranges.items() if isinstance(ranges, Ranges) else ():
        value = getattr(made, name)
        if not least <= value <= most:
            bounds = in_unit(least, type(value)), in_unit(most, type(value))
            raise UsageError(
                f"{where}: {name}: expected {' to '.join(bounds)}, found {plain(written(value), 60)}",
                per_cent_hint(value) if isinstance(value, Ratio) else "",
            )


def in_unit(bound: float, kind: type) -> str:
    """A bound of a range as an option of this type would be written."""
    if issubclass(kind, (Seconds, Tokens, Ratio, Bytes)):
        return written(kind(bound)).strip('"')
    return f"{bound:.12g}"


def refuse_text(text: str, where: str, most: int, least: int = 0) -> None:
    """Raises UsageError for a text that is no one line of ``least`` to ``most`` characters."""
    if not least <= len(text.strip()) <= len(text) <= most or not text.isprintable():
        expected = f"{least} to {most}" if least else f"at most {most}"
        raise UsageError(
            f"{where}: expected {expected} characters on one line, found {len(text)}: {plain(text, 60)!r}"
        )


def _refuse_unknown(kind: Any, table: Any, where: str) -> None:
    """msgspec lets a dataclass's unknown keys pass; a typing error in a plan must not."""
    if not dataclasses.is_dataclass(kind) or not isinstance(table, Mapping):
        return
    hints = typing.get_type_hints(kind)
    known = [f.name for f in dataclasses.fields(kind)]
    for key, value in table.items():
        if key not in known:
            hint = did_you_mean(key, known).rstrip() or f"known are: {', '.join(known) or 'none'}"
            raise UsageError(f"{where}: unknown key {plain(key, 100)!r}", hint)
        _refuse_unknown(hints[key], value, f"{where}: {key}")
        _refuse_items(hints[key], value, f"{where}: {key}")
        _refuse_no_choice(hints[key], value, f"{where}: {key}")
        inner = typing.get_args(hints[key])
        if isinstance(value, list) and inner:
            for number, item in enumerate(value, 1):
                _refuse_unknown(inner[0], item, f"{where}: {key} {number}")
                _refuse_no_choice(inner[0], item, f"{where}: {key} {number}")


def _refuse_items(hint: Any, value: Any, where: str) -> None:
    """msgspec does not tell which item of a table with keys of the user's own is wrong."""
    inner = typing.get_args(hint)
    if typing.get_origin(hint) in (dict, Mapping) and isinstance(value, Mapping):
        for key, item in value.items():
            try:
                msgspec.convert(item, inner[1], dec_hook=_quantity)
            except msgspec.ValidationError as error:
                found = f"{_plain(str(error))}: {plain(written(item), 60)}"
                raise UsageError(f"{where}: {plain(key, 100)}: {found}") from None


def _refuse_no_choice(hint: Any, value: Any, where: str) -> None:
    """msgspec tells neither what may be chosen nor what is near; it tells of values of another type."""
    choices = _choices(hint)
    if type(value) in set(map(type, choices)) and value not in choices:
        *most, last = map(written, choices)
        expected = f"{', '.join(most)} or {last}" if most else last
        meant = did_you_mean(str(value), map(str, choices)).rstrip()
        raise UsageError(f"{where}: expected {expected}, found {plain(written(value), 100)}", meant)


def _choices(hint: Any) -> list[Any]:
    """The values that an option of this type may have, where they are counted out: by Literal or an Enum."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return [choice.value for choice in hint]
    if typing.get_origin(hint) is typing.Literal:
        return list(typing.get_args(hint))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return [choice for one in typing.get_args(hint) for choice in _choices(one)]
    return []


def _plain(message: str) -> str:
    """msgspec's message, such as ``Expected `int`, got `str` - at `$.mix[...]```, in words of ours."""
    text, _, at = message.partition(" - at ")
    if text.startswith("Expected "):
        text = re.sub(r"`([a-z| ]+)`", _named, text.removeprefix("Expected "))
        text = f"expected {text.replace(', got ', ', found ')}"
    at = at.strip("`").removeprefix("$").removeprefix(".")
    return f"{at}: {text}" if at else text


def _named(found: re.Match[str]) -> str:
    """Types as TOML's user knows them, ``int | null`` as "a whole number or nothing"."""
    return " or ".join(_TYPES.get(name, name) for name in found[1].split(" | "))
