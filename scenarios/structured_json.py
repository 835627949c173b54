"""Structured output: an object with given fields and values, asked for plainly and under a schema.

The schema gives the last field another value, a constant, than the prompt does: an answer that has it proves
that the schema was enforced. It is the last, and the fields are in the order of their names, because a front
may sort the keys of a request and so of its schema: an order, or a value, that a model did not expect throws
it off in what comes after.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from soakproof.scenario import (
    Ask,
    Exchange,
    IterationContext,
    Parsed,
    Ranges,
    Scenario,
    Script,
    Tokens,
    as_floats,
    parse,
    same,
    violations,
)

TYPES = ("string", "string", "integer", "number", "boolean", "null", "array")  # each at most once an object


@dataclass(frozen=True)
class StructuredJson(Scenario):
    """One object asked for in words, another by a schema that has its own last value; both read strictly."""

    checks = ("json.strict", "json.values", "json.schema", "json.schema_values")
    fewest: int = 3  # fields of an object
    most: int = 6
    tokens: Tokens = Tokens(1024)
    ranges = Ranges(fewest=(1, 20), most=(1, 20), tokens=(1, 1e6))

    def __post_init__(self) -> None:
        if not 1 <= self.fewest <= self.most <= len(TYPES) + 1:
            raise ValueError(f"fewest and most: expected 1 <= fewest <= most <= {len(TYPES) + 1}")

    def iterate(self, it: IterationContext) -> Script:
        fields = draw_fields(it, self.fewest, self.most)
        limit = it.tokens(self.tokens)
        plain = yield Ask(prompt(it, fields), role="plain", tokens=limit)
        told = read(plain, limit)
        it.check("json.strict", is_strict(told), plain, grade=told.grade, reason=told.reason)
        check_values(it, "json.values", told, fields, plain)

        fields = draw_fields(it, self.fewest, self.most)
        text = prompt(it, fields)
        fields = with_constant(it, fields)
        schema = schema_of(fields)
        wrapped = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        forced = yield Ask(text, role="schema", tokens=limit, response_format=wrapped)
        told = read(forced, limit)
        check_schema(it, told, schema, forced)
        check_values(it, "json.schema_values", told, fields, forced)


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its name, its JSON type in words, its value as the prompt shows it, and its schema."""

    name: str
    words: str
    shown: str
    value: Any
    schema: Mapping[str, Any]


def draw_fields(it: IterationContext, fewest: int, most: int) -> list[Field]:
    """Distinct fields in the order of their names; the last holds a secret of this request alone.

    No type comes twice but text, and no text begins like the secret: the probe model's rare slips are there,
    and they would say nothing of the server.
    """
    names = sorted(it.draw.sample(list(it.lines("json_fields")), it.draw.randint(fewest, most)))
    secret = it.code()
    places = [place for place in it.lines("places") if place[0] != secret[0]]
    texts = [it.draw.choice(it.lines("json_strings")), it.draw.choice(places)]
    it.draw.shuffle(texts)
    types = it.draw.sample(TYPES, len(names) - 1)
    fields = [_field(it, name, of, texts) for name, of in zip(names, types, strict=False)]
    return [*fields, _text(names[-1], secret)]


def _text(name: str, value: str) -> Field:
    return Field(name, "string", value, value, {"type": "string"})


def _field(it: IterationContext, name: str, of: str, texts: list[str]) -> Field:
    """A field of a type with a drawn value; a text is taken from ``texts``."""
    draw = it.draw
    if of == "string":
        return _text(name, texts.pop())
    if of == "array":
        words = draw.sample(list(it.lines("words")), draw.randint(2, 3))
        items = {"type": "array", "items": {"type": "string"}}
        return Field(name, "array of strings", ", ".join(words), words, items)
    value: int | float | bool | None = {
        "integer": draw.randint(10, 9999),
        "number": round(draw.randint(10, 999) + draw.randint(1, 99) / 100, 2),
        "boolean": draw.random() < 0.5,
        "null": None,
    }[of]
    return Field(name, of, json.dumps(value), value, {"type": of})


def prompt(it: IterationContext, fields: list[Field]) -> str:
    """The request in words: a line a field."""
    return "\n".join([it.phrase("json"), *(f"- {f.name} ({f.words}): {f.shown}" for f in fields)])


def schema_of(fields: list[Field]) -> dict[str, Any]:
    """The schema that only these fields keep to."""
    properties = {f.name: dict(f.schema) for f in fields}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def with_constant(it: IterationContext, fields: list[Field]) -> list[Field]:
    """The fields with a constant in place of the last one's value.

    It has what is changed most easily on the way: two spaces, marks of HTML, an accent, an emoji. The grammar
    forces them, so a model that cannot write them is no excuse.
    """
    constant = f"{it.code(secret=False)} {it.draw.choice(it.lines('json_marks'))}"
    schema = {"type": "string", "const": constant}
    return [*fields[:-1], replace(fields[-1], value=constant, schema=schema)]


def read(answer: Exchange, limit: int) -> Parsed:
    """The answer as JSON; of one that was cut, whose cut it was."""
    told = parse(answer.text)
    if told.grade != "truncated":
        return told
    if answer.finish_reason == "length" and (answer.completion_tokens or limit) >= limit:
        whose = f"all {limit} tokens of the request were used, which is our own limit"
        return Parsed("truncated", reason=f"{told.reason}; {whose}")
    if answer.completion_tokens is not None and answer.completion_tokens >= limit:
        whose = f"all {limit} tokens were used, and finish_reason says {answer.finish_reason!r}: it is wrong"
    else:
        whose = f"finish_reason is {answer.finish_reason!r}, with tokens left"
    return Parsed("truncated_stop", reason=f"{told.reason}; {whose}")


def is_strict(told: Parsed) -> bool | None:
    """Whether an answer is strictly valid; None for one that our own limit of tokens cut."""
    return None if told.grade == "truncated" else told.grade == "strict"


def check_values(
    it: IterationContext, name: str, told: Parsed, fields: list[Field], answer: Exchange
) -> None:
    """Every field of the prompt has its value; fields beyond them are the schema's matter."""
    if not told.found:
        it.check(name, None, answer, grade=told.grade, reason=f"no value to compare: {told.reason}")
        return
    found = told.value if isinstance(told.value, dict) else {}
    wrong = [f for f in fields if f.name not in found or not same(found[f.name], f.value)]
    leaked = it.foreign(answer)
    grade = "foreign" if leaked else "wrong" if wrong else ""
    reasons = [*(missed(f, found) for f in wrong), *sorted(leaked)]
    reason = "; ".join(reasons) or right(fields)
    it.check(name, not wrong and not leaked, answer, grade=grade, reason=reason)


def missed(field: Field, found: Mapping[str, Any]) -> str:
    """A field whose value is missing or another than it must be."""
    there = repr(found[field.name])[:80] if field.name in found else "no such field"
    return f"{field.name}: expected {field.value!r}, found {there}"


def right(fields: list[Field]) -> str:
    """What each field had to be, and whose word that is where the prompt shows another."""
    forced = [
        f"{f.name} is {f.value}, the schema's, not the prompt's {f.shown}" for f in fields if is_forced(f)
    ]
    return "; ".join([f"{len(fields) - len(forced)} values are the prompt's", *forced])


def is_forced(field: Field) -> bool:
    """Whether the schema gives the field a value of its own."""
    return "const" in field.schema


def check_schema(it: IterationContext, told: Parsed, schema: dict[str, Any], answer: Exchange) -> None:
    """A strictly valid answer that keeps to the schema."""
    strict = is_strict(told)
    if not strict:
        it.check("json.schema", strict, answer, grade=told.grade, reason=told.reason)
        return
    broken = violations(told.value, schema)
    more = f"; and {len(broken) - 5} more" if len(broken) > 5 else ""
    grade, reason = ("unenforced", "; ".join(broken[:5]) + more) if broken else whole_as_float(told)
    it.check("json.schema", not broken, answer, grade=grade, reason=reason)


def whole_as_float(told: Parsed) -> tuple[str, str]:
    """Grade and reason of an answer with whole numbers such as 7.0: right, but not as a grammar has them."""
    found = as_floats(told.value)
    return ("as_float", f"written with a fraction of zero: {', '.join(found[:5])}") if found else ("", "")
