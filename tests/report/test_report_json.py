"""verdict.json has every value of the verdict as it is, and the raw outcome unchanged."""

import json
import math
from collections.abc import Callable
from importlib.resources import files

import founding_report as founding
import hostile_report as hostile
import pytest
from jsonschema import Draft202012Validator

from soakproof.judge import Figure, Outcome
from soakproof.judge.finding import Verdict
from soakproof.report import render_json


def test_it_is_the_verdict_itself() -> None:
    document = json.loads(render_json(founding.verdict()))
    assert (document["format"], document["outcome"], document["exit_code"]) == (1, "PASS", 0)
    assert document["raw"] == founding.raw()
    assert document["reconsidered"][0]["who"] == "the release's owner"
    assert document["findings"][0]["figures"][0] == {
        "name": "passed",
        "value": 10,
        "unit": "",
        "n": 10,
        "baseline": None,
        "note": "",
    }
    assert json.loads(render_json(founding.verdict(raw=None, outcome=Outcome.ERROR)))["exit_code"] == 3


def test_missing_numbers_are_null_and_never_zero() -> None:
    figures = (Figure(name="a", value=None), Figure(name="b", value=math.nan))
    found = founding.finding("x", "y", "z", figures=figures)
    document = json.loads(render_json(founding.verdict(findings=(found,))))
    assert [f["value"] for f in document["findings"][0]["figures"]] == [None, None]


def test_hostile_text_and_huge_numbers_can_be_read_again() -> None:
    document = json.loads(render_json(hostile.verdict(versions={"n": "v"}, identity={"n": 2**70})))
    assert document["policy"].startswith(hostile.SCRIPT)
    assert document["identity"]["n"] == str(2**70)


SCHEMA = files("soakproof.report") / "verdict.schema.json"


@pytest.mark.parametrize("made", [founding.verdict, hostile.verdict])
@pytest.mark.parametrize("outcome", list(Outcome))
def test_it_keeps_to_the_published_schema(outcome: Outcome, made: Callable[..., Verdict]) -> None:
    schema = json.loads(SCHEMA.read_text())
    document = json.loads(render_json(made(outcome=outcome)))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert list(validator.iter_errors(document)) == []
    assert (document["$schema"], document["format"]) == (
        schema["$id"],
        schema["properties"]["format"]["const"],
    )
    assert not set(document) - set(schema["properties"])


@pytest.mark.parametrize("wrong", [{"outcome": "GREAT"}, {"findings": [{}]}, {"format": 2}, {"raw": 1}])
def test_the_schema_refuses_what_is_no_verdict(wrong: dict[str, object]) -> None:
    document = json.loads(render_json(founding.verdict())) | wrong
    assert list(Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(document))


def test_it_is_no_command_to_githubs_runner_and_the_same_text_again() -> None:
    text = render_json(founding.verdict(policy="##[error]x"))
    assert "##[" not in text
    assert json.loads(text)["policy"] == "##[error]x"
