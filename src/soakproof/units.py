"""Numbers with a unit, as plans and policies write them: "5s", "6000 tokens", "3 %", "18 GiB". No I/O.

Each class is a plain number in its base unit and is made by `parse`, which says what it expected.
"""

import json
import re
from collections.abc import Mapping
from typing import ClassVar, Self

from soakproof.plain import plain

_LIMIT = 2**53  # beyond it a number is no measure of anything, and not exact any more
_NUMBER = re.compile(r"\s*([-+]?\d+(?:[_,]\d{3})*(?:\.\d+)?)\s*(\S.*?)?\s*$", re.ASCII)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def split(text: str) -> tuple[float, str]:
    """The number and the unit of a text such as ``12.5 tokens/s``. Raises ValueError."""
    match = _NUMBER.match(text)
    if not match:
        raise ValueError(f"expected a number with a unit, found {text!r}")
    return float(re.sub("[_,]", "", match[1])), match[2] or ""


class Ranges(dict[str, tuple[float, float]]):
    """An option's name to the least and the greatest value that makes sense, each in the base unit.

    Written as ``ranges = Ranges(words=(1, 1000), share=(0, 1))`` beside the options.
    """


class _Quantity:
    scale: ClassVar[dict[str, float]]
    bare: ClassVar[bool] = False  # whether a number without a unit will do
    signed: ClassVar[bool] = False  # whether it may be negative
    example: ClassVar[str]

    @classmethod
    def parse(cls, value: object) -> Self:
        """From TOML's text or number. Raises ValueError, saying what was expected and what was found."""
        wrong = ValueError(f"expected {cls.example}, found {plain(written(value), 100)}")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise wrong
        try:
            number, unit = split(value) if isinstance(value, str) else (float(value), "")
        except (ValueError, OverflowError):
            raise wrong from None
        if unit not in cls.scale and not (unit == "" and cls.bare):
            raise wrong
        number *= cls.scale.get(unit, 1)
        if not abs(number) < _LIMIT or (number < 0 and not cls.signed):
            raise wrong
        return cls(number)  # type: ignore[call-arg]


class Seconds(_Quantity, float):
    """A duration in seconds."""

    scale: ClassVar = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600}
    example: ClassVar = 'a duration with its unit, such as "5s", "300ms", "30m" or "2h"'


class Tokens(_Quantity, int):
    """A number of tokens."""

    scale: ClassVar = {"tokens": 1, "token": 1, "k tokens": 1000}
    bare: ClassVar = True
    example: ClassVar = 'a number of tokens, such as 6000 or "6000 tokens"'


class Ratio(_Quantity, float):
    """A share: 0.03 is 3 %."""

    scale: ClassVar = {"%": 0.01}
    bare: ClassVar = True
    signed: ClassVar = True
    example: ClassVar = 'a share, such as "3 %" or 0.03'


class Bytes(_Quantity, int):
    """A size in bytes; binary and decimal units are told apart."""

    scale: ClassVar = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "KB": 1e3, "MB": 1e6, "GB": 1e9}
    example: ClassVar = 'a size with its unit, such as "18 GiB" or "512 MiB"'


def per_cent_hint(share: float) -> str:
    """How to write the per cent that a share of 1 or more may have been meant as; "" of a lesser one."""
    if share < 1:
        return ""
    return f'{share:g} without a unit is {share * 100:g} %: for {share:g} per cent write "{share:g} %"'


def written(value: object) -> str:
    """A value as a plan writes it: a quantity with its unit, all else as TOML has it.

    ``"30m"``, ``"2.5s"``, ``"1200 tokens"``, ``"25 %"``, ``"512 MiB"``, ``true``, ``7``, ``"text"``,
    ``["a", "b"]``, ``{ a = 1 }``, ``1979-05-27``.
    """
    match value:
        case Seconds() | Tokens() | Ratio() | Bytes():
            return f'"{_with_unit(value)}"'
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)
        case tuple() | list():
            return f"[{', '.join(written(item) for item in value)}]"
        case Mapping():
            pairs = (f"{_key(name)} = {written(item)}" for name, item in value.items())
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return str(value)


def _key(name: object) -> str:
    return str(name) if _BARE_KEY.fullmatch(str(name)) else json.dumps(str(name), ensure_ascii=False)


def _with_unit(value: Seconds | Tokens | Ratio | Bytes) -> str:
    match value:
        case Tokens():
            return f"{int(value)} tokens"
        case Ratio():
            return f"{value * 100:.15g} %"
        case Seconds():
            return _in_largest(value, {"h": 3600, "m": 60}, "s")
    return _in_largest(value, {" GiB": 2**30, " MiB": 2**20, " KiB": 2**10}, " B")


def _in_largest(value: float, units: Mapping[str, int], base: str) -> str:
    """In the largest unit that leaves a whole number; else in the base unit."""
    for unit, size in units.items():
        if value and value % size == 0:
            return f"{int(value / size)}{unit}"
    shown = str(int(value)) if float(value).is_integer() else f"{value:.15g}"
    return f"{shown}{base}"
