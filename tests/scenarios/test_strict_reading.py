"""The strict JSON reader: every document passes, every prefix is truncated, nothing at all makes it raise."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.strictjson import as_floats, parse, same, violations

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4)


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1, 4]))
def test_a_document_is_read_as_it_was_written(value: object, ascii_only: bool, indent: int | None) -> None:
    told = parse(json.dumps(value, ensure_ascii=ascii_only, indent=indent))
    assert (told.grade, told.found) == ("strict", True)
    assert same(told.value, value)


@given(OBJECTS, st.booleans(), st.data())
def test_every_prefix_of_an_object_is_truncated(value: object, ascii_only: bool, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert parse(cut).grade == "truncated"
    assert parse(f"```json\n{cut}").grade == "truncated"


@given(OBJECTS)
def test_a_value_is_found_in_a_fence_and_beside_prose(value: object) -> None:
    text = json.dumps(value)
    for grade, around in [
        ("fenced", f"```json\n{text}\n```"),
        ("fenced", f"```\n{text}\n```\n"),
        ("trailing", f"{text}\n\nThat is all."),
        ("trailing", f"```json\n{text}\n```\nThat is all."),
        ("leading", f"Here it is: {text}"),
    ]:
        told = parse(around)
        assert told.grade == grade
        assert same(told.value, value)


@given(st.text() | st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u`\n'))
def test_no_text_makes_it_raise(text: str) -> None:
    told = parse(text)
    assert told.found == (told.grade in {"strict", "fenced", "leading", "trailing"})
    assert told.found or told.reason


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("", "invalid"),
        ("no", "invalid"),
        ('{"a": 1,}', "invalid"),
        ("{'a': 1}", "invalid"),
        ('{"a": "\\q"}', "invalid"),
        ('{"a": "line\nbreak"}', "invalid"),
        ('{"a": 1 /* note */}', "invalid"),
        ('{"languages": {"name": "Java"}, ...}', "invalid"),
        ('```json\n{"languages": \n {"name": "Java"},\n ...\n}\n```\nA list of languages.', "invalid"),
        ('{"a": 1}}', "trailing"),
        ('{"a": 1}\x00', "trailing"),
        ('{"a": 1} -', "trailing"),
        ('{"year": 1995, "year": 1996}', "duplicate_key"),
        ('{"in": {"a": 1, "a": 1}}', "duplicate_key"),
        ('{"score": NaN}', "nan"),
        ('{"max": Infinity}', "nan"),
        ('{"min": -Infinity}', "nan"),
        ('{"big": 1e999}', "nan"),
        ('{"a": 1' + " " * 100, "whitespace"),
        ('{"a": 1}' + "\n" * 100, "whitespace"),
        ("\t" * 100, "whitespace"),
        ('{"languages":[{"name":"Java","year":1995},{"name":"Pyt', "truncated"),
        ("[" * 100_000, "invalid"),
        ('{"a":' * 100_000, "invalid"),
        ('{"a":' + "9" * 5_000 + "}", "invalid"),
    ],
)
def test_each_class(text: str, grade: str) -> None:
    assert parse(text).grade == grade


def test_a_lone_surrogate_is_a_value() -> None:
    assert parse('{"a": "\\ud800"}').value == {"a": "\ud800"}


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, True), (0, False), ("1", 1), (None, False), ([1], [1, 2]), ({}, []), ([True], [1])],
)
def test_values_of_other_types_are_not_the_same(a: object, b: object) -> None:
    assert not same(a, b)
    assert not same({"k": a}, {"k": b})
    assert same(a, a)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "none": {"type": "null"},
        "flag": {"type": "boolean"},
        "fixed": {"type": "string", "const": "K7"},
    },
    "required": ["name", "fixed"],
    "additionalProperties": False,
}
GOOD = {"name": "a", "n": 1, "x": 1.5, "tags": ["b"], "none": None, "flag": True, "fixed": "K7"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": 1}, "$.name: expected string"),
        ({"n": 1.5}, "$.n: expected integer"),
        ({"n": True}, "$.n: expected integer"),
        ({"x": "1"}, "$.x: expected number"),
        ({"x": True}, "$.x: expected number"),
        ({"tags": "b"}, "$.tags: expected array"),
        ({"tags": ["b", 2]}, "$.tags[1]: expected string"),
        ({"none": 0}, "$.none: expected null"),
        ({"flag": 1}, "$.flag: expected boolean"),
        ({"fixed": "K8"}, "$.fixed: expected the constant 'K7'"),
        ({"more": 1}, "$: has 'more'"),
    ],
)
def test_what_breaks_a_schema(change: dict[str, object], told: str) -> None:
    (found,) = violations(GOOD | change, SCHEMA)
    assert found.startswith(told)


def test_what_keeps_to_a_schema() -> None:
    assert violations(GOOD, SCHEMA) == []
    assert violations({"name": "a", "fixed": "K7", "x": 2}, SCHEMA) == []
    assert violations({"name": "a"}, SCHEMA) == ["$: lacks fixed"]
    assert violations([], SCHEMA) == ["$: expected object, found list"]


@pytest.mark.parametrize("text", ['{"a": "b', '{"a": tru', '{"a": 1, "a', "[1 2]"])
def test_what_is_wrong_and_where_is_one_sentence(text: str) -> None:
    reason = parse(text).reason
    assert re.search(r" at character \d+ of \d+$", reason), reason
    assert "at at" not in reason


def test_a_whole_number_with_a_fraction_of_zero_is_an_integer_and_told() -> None:
    """As JSON Schema has it since its draft 6."""
    value = {"a": 1507.0, "b": [2.5, 3.0], "c": 4}
    assert violations({"a": 1507.0}, {"type": "object", "properties": {"a": {"type": "integer"}}}) == []
    assert violations(1507.5, {"type": "integer"}) == ["$: expected integer, found float"]
    assert violations(7.0, {"const": 7}) == []
    assert same(1507.0, 1507)
    assert not same(1.0, True)
    assert as_floats(value) == ["$.a", "$.b[1]"]
    assert as_floats({"a": 1507, "b": 2.5, "c": True}) == []
