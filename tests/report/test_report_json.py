"""verdict.json has every value of the verdict as it is, and the raw outcome unchanged."""

import json
import math

import founding_report as founding
import hostile_report as hostile

from soakproof.judge import Figure, Outcome
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
