"""Every record survives being written and read; nothing else is taken for one."""

import typing
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from soakproof.failures import KINDS
from soakproof.records import (
    FILES,
    TAGS,
    Event,
    Exchange,
    Failure,
    Iteration,
    Record,
    decode,
    decode_block,
    encode,
)
from soakproof.run import read_records, to_json
from soakproof.samples.gathering import Gathering
from soakproof.testing.evidence import exchange, sample

INTEGERS = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a field, from its annotation."""
    simple: dict[Any, st.SearchStrategy[Any]] = {
        Any: JSON,
        str: TEXTS,
        int: INTEGERS,
        float: FLOATS,
        bool: st.booleans(),
        type(None): st.none(),
    }
    if hint in simple:
        return simple[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    inner = get_args(hint)
    if get_origin(hint) is Literal:
        return st.sampled_from(list(inner))
    if get_origin(hint) is dict:
        return st.dictionaries(values_of(inner[0]), values_of(inner[1]), max_size=3)
    if get_origin(hint) is tuple:
        return st.lists(values_of(inner[0]), max_size=3).map(tuple)
    return st.one_of(*(values_of(part) for part in inner))


def records(kind: type) -> st.SearchStrategy[Record]:
    hints = get_type_hints(kind)
    return st.builds(kind, **{field.name: values_of(hints[field.name]) for field in fields(kind)})


@pytest.mark.parametrize("kind", TAGS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_record_is_read_as_it_was_written(kind: type, data: st.DataObject) -> None:
    record = data.draw(records(kind))
    line = encode(record)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == record


def smallest(kind: type, **given: Any) -> Record:
    """A record with only what has no default."""
    empty = {str: "", int: 0, bool: False}
    hints = get_type_hints(kind)
    made: dict[str, Any] = {}
    for field in fields(kind):
        if field.required:
            hint = hints[field.name]
            literal = get_origin(hint) is Literal
            made[field.name] = get_args(hint)[0] if literal else empty.get(hint)
    return typing.cast(Record, kind(**{**made, **given}))


@pytest.mark.parametrize("kind", TAGS, ids=lambda kind: kind.__name__)
def test_fields_with_defaults_may_be_missing_in_a_line(kind: type) -> None:
    """A field that a later version adds must not make older runs unreadable."""
    record = smallest(kind)
    document = orjson.loads(encode(record))
    for field in fields(kind):
        if not field.required:
            del document[field.name]
    assert decode(orjson.dumps(document)) == record


def test_text_that_utf8_cannot_carry_is_replaced() -> None:
    record = decode(encode(smallest(Exchange, text="half \ud83d of a pair", usage={"a": {"b": "\udc00"}})))
    assert isinstance(record, Exchange)
    assert record.text == "half ? of a pair"
    assert record.usage == {"a": {"b": "?"}}


def test_huge_integers_become_text() -> None:
    record = decode(encode(smallest(Exchange, timings={"n": 2**70, "ok": 2**63})))
    assert isinstance(record, Exchange)
    assert record.timings == {"n": str(2**70), "ok": 2**63}


def test_what_is_nested_without_end_is_cut_short() -> None:
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    record = decode(encode(smallest(Exchange, timings={"n": nested})))
    assert isinstance(record, Exchange)
    assert "nested too deep" in str(record.timings)


@pytest.mark.parametrize("tag", [[], {}, 1, None, "?"])
def test_a_kind_that_is_none_is_refused(tag: Any) -> None:
    with pytest.raises(ValueError, match="without a known record kind"):
        decode(orjson.dumps({"record": tag}))


def test_a_document_of_a_run_can_hold_whatever_a_server_said() -> None:
    said = {"model": "\ud800\x1b[2J", "max": 10**30, "huge": 10**5000, "raw": b"\xff", (1, 2): complex(1)}
    read = orjson.loads(to_json(said))
    assert read["model"] == "?\x1b[2J"
    assert read["max"] == str(10**30)
    assert "bits" in read["huge"]


def test_a_line_is_one_line_whatever_the_text() -> None:
    line = encode(smallest(Exchange, text="a\nb\r\nc\u2028d\x85e"))
    assert line.count(b"\n") == 1
    assert decode(line).text == "a\nb\r\nc\u2028d\x85e"  # type: ignore[union-attr]


@given(st.binary() | JSON.map(orjson.dumps))
def test_anything_else_is_refused_in_words(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode(line)


def test_a_field_of_the_wrong_type_is_refused() -> None:
    document = orjson.loads(encode(smallest(Iteration)))
    with pytest.raises(ValueError, match="started_ns"):
        decode(orjson.dumps(document | {"started_ns": "yesterday"}))


def test_every_record_has_a_file_and_every_failure_a_culprit() -> None:
    assert set(FILES) == set(TAGS)
    assert set(KINDS) == set(Failure)


def test_what_a_terminal_would_obey_stands_as_its_escape() -> None:
    text = "\x1b[31m \x9b31m \x7f \u202egnp.\u2066\u200f\u200b\ufeff\u00ad\u2028\u061c ü → \x80"
    record = smallest(Exchange, text=text)
    line = encode(record)
    assert decode(line) == record
    shown = line.decode().rstrip("\n")
    assert not [c for c in shown if not c.isprintable()]
    assert "ü →" in shown


@pytest.mark.parametrize("levels", [100, 900, 985, 5000])
@pytest.mark.parametrize("end", ["1", "[]"])
def test_a_line_that_is_nested_too_deep_is_no_record(tmp_path: Path, levels: int, end: str) -> None:
    deep = '{"x":' * levels + end + "}" * levels
    for name, kind, field in (
        ("samples.jsonl", sample("memory", 1, x=1), "values"),
        ("events.jsonl", Event(node="load", t_ns=1, what="tick", details={"x": 1}), "details"),
        ("exchanges.jsonl", exchange("load-1", usage={"x": 1}), "usage"),
        ("exchanges.jsonl", exchange("load-1", timings={"x": 1}), "timings"),
    ):
        good = encode(kind)
        line = good.replace(f'"{field}":{{"x":1}}'.encode(), f'"{field}":{deep}'.encode())
        assert line != good
        (tmp_path / name).write_bytes(good + line + line + good)
        kept, *wrong, last = read_records(tmp_path / name)
        assert kept == last == kind
        assert [str(w).split(": ")[0] for w in wrong] == [f"line {n} is not a record" for n in (2, 3)]
        assert not isinstance(Gathering().add_lines(good + line, 1), int)
        assert decode_block(good + line) is None
