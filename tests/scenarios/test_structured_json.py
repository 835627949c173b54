"""Structured JSON: each way to miss it is found by the check that it belongs to, and told by its class."""

import json
import re

import pytest
from playing import make, of, play

from soakproof.scenario import Ask

JSON = make("structured_json")


def last_value(text: str, value: object) -> str:
    document = json.loads(text)
    document[next(reversed(document))] = value
    return json.dumps(document)


TEXTS = {
    "fenced": lambda t: f"```json\n{t}\n```",
    "leading": lambda t: f"Here is the object: {t}",
    "trailing": lambda t: f"{t}\n\nLet me know if you need more.",
    "whitespace": lambda t: t[:-1] + "\n" * 500,
    "duplicate_key": lambda t: t[:-1] + ", " + t[1:],
    "nan": lambda t: t[:-1] + ', "more": NaN}',
    "truncated_stop": lambda t: t[:-4],
    "invalid": lambda t: t.replace('"', "'"),
}
VALUE_IS_FOUND = {"fenced", "leading", "trailing"}


@pytest.mark.parametrize("grade", TEXTS)
def test_a_plain_answer_that_is_not_strict(grade: str) -> None:
    missed = play(JSON, of("plain", text=TEXTS[grade])).missed()
    assert missed.pop("json.strict") == (False, grade)
    assert missed == ({} if grade in VALUE_IS_FOUND else {"json.values": (None, grade)})


@pytest.mark.parametrize("grade", TEXTS)
def test_an_answer_under_a_schema_that_is_not_strict(grade: str) -> None:
    missed = play(JSON, of("schema", text=TEXTS[grade])).missed()
    assert missed.pop("json.schema") == (False, grade)
    assert missed == ({} if grade in VALUE_IS_FOUND else {"json.schema_values": (None, grade)})


def test_a_wrong_value_is_strict_json_all_the_same() -> None:
    played = play(JSON, of("plain", text=lambda t: last_value(t, "something else")))
    assert played.missed() == {"json.values": (False, "wrong")}
    last, _ = json.loads(played.exchanges[0].text).popitem()
    assert re.fullmatch(rf"{last}: expected '\S+', found 'something else'", played.reason("json.values"))


def test_a_value_that_decides_is_told_where_it_is_right() -> None:
    """The schema's own constant stands in no prompt, and overrules what the prompt says."""
    played = play(JSON)
    answers = [json.loads(exchange.text) for exchange in played.exchanges]
    (last, constant), plain = answers[1].popitem(), len(answers[0])
    reasons = {c.name: c.reason for c in played.result.checked}
    assert reasons["json.values"] == f"{plain} values are the prompt's"
    told = reasons["json.schema_values"]
    assert told.startswith(f"{len(answers[1])} values are the prompt's; {last} is {constant}, the schema's, ")
    (shown,) = re.findall(r"not the prompt's (\S+)", told)
    assert shown != constant


def test_a_field_of_another_type_is_a_wrong_value() -> None:
    """True is not 1, and a list is not its text."""

    def stringly(text: str) -> str:
        return json.dumps({k: v if isinstance(v, str) else str(v) for k, v in json.loads(text).items()})

    missed = play(JSON, of("plain", text=stringly), number=2).missed()
    assert missed == {"json.values": (False, "wrong")}


def test_another_order_of_keys_is_right() -> None:
    """Lemonade sorts the keys of a request, and with them the order that a schema's grammar forces."""

    def reverse(text: str) -> str:
        return json.dumps(dict(reversed(json.loads(text).items())))

    for role in ("plain", "schema"):
        assert play(JSON, of(role, text=reverse)).missed() == {}


def test_a_schema_that_was_not_enforced_shows() -> None:
    """A model that does as the prompt says, and was held to no schema, cannot know the constant."""

    shown = schema_ask().chat()[0]["content"].rsplit("(string): ", 1)[1]
    missed = play(JSON, of("schema", text=lambda t: last_value(t, shown))).missed()
    assert missed == {"json.schema": (False, "unenforced"), "json.schema_values": (False, "wrong")}


def test_a_field_too_many_breaks_the_schema_alone() -> None:
    missed = play(JSON, of("schema", text=lambda t: t[:-1] + ', "more": 1}')).missed()
    assert missed == {"json.schema": (False, "unenforced")}


def test_the_schema_is_sorted_closed_and_ends_with_a_constant_that_no_prompt_tells() -> None:
    ask = schema_ask()
    assert ask.response_format is not None
    schema = ask.response_format["json_schema"]["schema"]
    names = list(schema["properties"])
    assert names == sorted(names) == schema["required"]
    assert schema["additionalProperties"] is False
    assert schema["properties"][names[-1]]["const"] not in str(ask.messages)
    assert ask.response_format["json_schema"]["strict"] is True


def test_truncation_says_whose_it_is() -> None:
    def reason(**changes: object) -> str:
        return play(JSON, of("plain", text=lambda t: t[:-4], **changes)).reason("json.strict")

    ours = "all 1024 tokens of the request were used, which is our own limit"
    assert ours in reason(finish_reason="length", completion_tokens=1024)
    assert ours in reason(finish_reason="length", completion_tokens=None)
    assert "finish_reason is 'length', with tokens left" in reason(
        finish_reason="length", completion_tokens=60
    )
    assert "it is wrong" in reason(finish_reason="stop", completion_tokens=1024)
    assert "with tokens left" in reason(finish_reason="stop", completion_tokens=20)


def test_another_requests_secret_is_a_leak() -> None:
    """The second answer holds the code of the first."""
    code = play(JSON).exchanges[0].secrets[0]
    played = play(JSON, of("schema", text=lambda t: last_value(t, code)))
    assert played.missed()["json.schema_values"] == (False, "foreign")
    assert code in played.reason("json.schema_values")


@pytest.mark.parametrize("text", ["", "null", "[]", '"text"', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"])
def test_hostile_answers_fail_and_do_not_raise(text: str) -> None:
    played = play(JSON, of("plain", text=text))
    assert played.result.end == "completed"
    assert {name.partition(".")[2] for name in played.missed()} <= {"strict", "values"}
    assert played.missed()


def test_what_an_object_is_made_of() -> None:
    """Every type comes up, none but text twice in an object, and the last field is the request's secret."""
    seen = set()
    for number in range(60):
        for exchange in play(JSON, number=number).exchanges:
            document = json.loads(exchange.text)
            types = [type(value) for value in document.values()]
            assert list(document) == sorted(document)
            assert 3 <= len(types) <= 6
            assert all(types.count(kind) == 1 for kind in set(types) - {str})
            assert isinstance(next(reversed(document.values())), str)
            seen.update(types)
    assert seen == {str, int, float, bool, type(None), list}


def test_options_that_make_no_sense_are_refused() -> None:
    for fewest, most in [(5, 4), (0, 4), (3, 9)]:
        with pytest.raises(ValueError, match="fewest"):
            make("structured_json", fewest=fewest, most=most)


def schema_ask() -> Ask:
    return play(JSON).asks[1]


@pytest.mark.parametrize("role", ["plain", "schema"])
def test_what_our_own_limit_cut_is_unknown(role: str) -> None:
    checks = ["json.strict", "json.values"] if role == "plain" else ["json.schema", "json.schema_values"]
    cut = {"finish_reason": "length", "completion_tokens": 1024}
    missed = play(JSON, of(role, text=lambda t: t[:-4], **cut)).missed()
    assert missed == dict.fromkeys(checks, (None, "truncated"))
