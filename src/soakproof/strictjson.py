"""JSON as a strict reader takes it, with a class for each way to miss it; values, schemas. No I/O.

`json.loads` alone accepts duplicate keys, NaN and Infinity; an answer that needs a fence cut off or prose
dropped is not valid, but it is another fault than one that is cut short. Model output is hostile: huge
numbers, deep nesting and lone surrogates end in a class, never in an exception.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Grade = Literal[
    "strict",
    "fenced",
    "leading",
    "trailing",
    "truncated",
    "truncated_stop",
    "whitespace",
    "duplicate_key",
    "nan",
    "invalid",
]
ENDLESS = 64  # white space of this length is no formatting any more

_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\s*```\s*", re.DOTALL)
_OPEN_FENCE = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n")
_ENDLESS = re.compile(rf"\s{{{ENDLESS}}}")
_CUT_TOKEN = re.compile(r"-|\.|[eE][+-]?|t(ru?)?|f(a(ls?)?)?|n(ul?)?|\\?u[0-9a-fA-F]{0,4}")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an answer is as JSON. ``found`` says whether ``value`` holds anything at all."""

    grade: Grade
    value: Any = None
    found: bool = False
    reason: str = ""


class _DuplicateKey(ValueError):
    """An object with one key twice."""


class _NotFinite(ValueError):
    """NaN, Infinity, or a number beyond a double."""


def parse(text: str) -> Parsed:
    """The one JSON value of a text, or the class of what is wrong with it.

    A value is also found in a fenced text, and beside prose; whoever compares values may still use it.
    """
    if run := _ENDLESS.search(text):
        return Parsed("whitespace", reason=f"white space without end from character {run.start()}")
    whole = _strict(text)
    if whole.found or whole.grade != "invalid":
        return whole
    if fence := _FENCE.fullmatch(text):
        inner = _strict(fence[1])
        return Parsed("fenced", inner.value, True, "valid inside a Markdown fence") if inner.found else inner
    if fence := _OPEN_FENCE.match(text):
        inner = _strict(text[fence.end() :])
        if inner.grade == "truncated":
            return inner
    return _beside_prose(text) or whole


def _strict(text: str) -> Parsed:
    """The text as one value and nothing else."""
    try:
        return Parsed("strict", _decoder.decode(text), True)
    except json.JSONDecodeError as error:
        grade: Grade = "truncated" if _is_cut(text, error) else "invalid"
        what = error.msg.removesuffix(" at")  # as in "Unterminated string starting at"
        return Parsed(grade, reason=f"{what} at character {error.pos} of {len(text)}")
    except _DuplicateKey as error:
        return Parsed("duplicate_key", reason=str(error))
    except _NotFinite as error:
        return Parsed("nan", reason=str(error))
    except (ValueError, RecursionError) as error:  # an integer of thousands of digits, nesting without end
        return Parsed("invalid", reason=f"{type(error).__name__}: {str(error)[:80]}")


def doubled_key(text: str) -> str:
    """Which key comes twice in one object of a JSON text, in words; "" where none does."""
    found = _strict(text)
    return found.reason if found.grade == "duplicate_key" else ""


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether the text is the beginning of a value: the error lies where the text ends."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    rest = text[error.pos :].rstrip()
    if not rest or error.msg.startswith("Unterminated string"):
        return True
    return error.msg != "Extra data" and _CUT_TOKEN.fullmatch(rest) is not None


def _beside_prose(text: str) -> Parsed | None:
    """A value with prose around it, fences in the prose included."""
    start = re.search(r"[{\[]", text)
    if start is None:
        return None
    try:
        value, end = _decoder.raw_decode(text, start.start())
    except (ValueError, RecursionError):
        return None
    before = text[: start.start()]
    if before.strip() and not _OPEN_FENCE.fullmatch(before):
        return Parsed("leading", value, True, f"{start.start()} characters before the value")
    return Parsed("trailing", value, True, f"{len(text) - end} characters after the value")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise _DuplicateKey(f"the key {key[:40]!r} comes more than once")
        made[key] = value
    return made


def _constant(name: str) -> Any:
    raise _NotFinite(f"{name} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFinite(f"{text[:40]} is beyond a double")
    return number


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


def same(a: Any, b: Any) -> bool:
    """Equal values of equal JSON types, whatever the order of keys: True is not 1.

    Numbers are equal by their value, as JSON Schema compares them: 1.0 is 1. `as_floats` finds such a one.
    """
    if _is_number(a) and _is_number(b):
        return bool(a == b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def as_floats(value: Any, at: str = "$") -> list[str]:
    """Where whole numbers are written with a fraction of zero, such as ``$.amount``.

    Since its draft 6 JSON Schema counts them as integers; llama.cpp's grammar for an integer makes none.
    """
    if isinstance(value, float):
        return [at] if value.is_integer() else []
    if isinstance(value, dict):
        return [found for key, item in value.items() for found in as_floats(item, f"{at}.{key}")]
    if isinstance(value, list):
        return [found for n, item in enumerate(value) for found in as_floats(item, f"{at}[{n}]")]
    return []


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def violations(value: Any, schema: Mapping[str, Any], at: str = "$") -> list[str]:
    """How a value breaks a schema: type, const, properties, required, additionalProperties, items."""
    kind = schema.get("type")
    if kind is not None and not _is_of(value, kind):
        return [f"{at}: expected {kind}, found {type(value).__name__}"]
    found = []
    if "const" in schema and not same(value, schema["const"]):
        found.append(f"{at}: expected the constant {schema['const']!r}")
    if isinstance(value, dict):
        found += _object_violations(value, schema, at)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += violations(item, schema["items"], f"{at}[{number}]")
    return found


def _is_of(value: Any, kind: str) -> bool:
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    is_flag = isinstance(value, bool) and kind in {"integer", "number"}
    return isinstance(value, _TYPES[kind]) and not is_flag


def _object_violations(value: dict[str, Any], schema: Mapping[str, Any], at: str) -> list[str]:
    properties = schema.get("properties", {})
    found = [f"{at}: lacks {key}" for key in schema.get("required", ()) if key not in value]
    if schema.get("additionalProperties") is False:
        found += [f"{at}: has {key[:40]!r}, which the schema lacks" for key in value if key not in properties]
    for key, inner in properties.items():
        if key in value:
            found += violations(value[key], inner, f"{at}.{key}")
    return found
