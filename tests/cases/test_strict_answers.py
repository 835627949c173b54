"""JSON that is not what was asked, and answers that our own limit cut: graded, and whose fault it is."""

import json
from dataclasses import replace

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from misbehaving import document
from msgspec import structs
from playedback import judged, records
from playing import make, of, play, right_answer
from replaying import Read
from responses import DONE, STOP, chunk, events, read
from scripted import documents
from watching import answering

from soakproof.judge import Outcome
from soakproof.records import Exchange, Failure
from soakproof.strictjson import parse, violations
from soakproof.target import Credentials, examine
from soakproof.testing.evidence import adjudicate, check, evidence

JSON = make("structured_json")
Sockets = dict[str, dict[str, Exchange]]


def content(name: str, place: int = 0) -> str:
    return str(documents(name)[place]["response"]["choices"][0]["message"]["content"])


@pytest.mark.case(41)
@pytest.mark.parametrize(
    ("name", "grade"),
    [
        ("41-fenced-but-valid.json", "fenced"),
        ("41-trailing-prose.json", "trailing"),
        ("41-fenced-and-broken.json", "invalid"),
        ("41-nan-dup-key.json", "nan"),
    ],
)
def test_each_way_to_miss_json_has_its_grade(name: str, grade: str) -> None:
    assert parse(content(name)).grade == grade
    played = play(JSON, of("plain", text=content(name)))
    assert played.missed()["json.strict"] == (False, grade)
    found = judged("functional", records(played, "structured_json"))["json.strict"]
    assert found.outcome is Outcome.FAIL
    assert any(figure.name == f"fail: {grade}" for figure in found.figures)


@pytest.mark.case(41)
@given(
    st.permutations(['"year": 1995', '"name": "Java"', '"score": 1.5']),
    st.sampled_from(["NaN", "Infinity", "1e999"]),
)
def test_what_json_loads_takes_and_json_is_not(members: list[str], number: str) -> None:
    whole = "{" + ", ".join(members) + "}"
    assert parse(whole).grade == "strict"
    assert parse(whole[:-1] + f', "max": {number}}}').grade == "nan"
    assert parse(whole[:-1] + f", {members[0]}}}").grade == "duplicate_key"
    assert parse(f"```json\n{whole}\n```").grade == "fenced"
    assert parse(f"{whole}\n\nLet me know.").grade == "trailing"


@pytest.mark.case(42)
def test_an_answer_is_held_against_the_schema_itself() -> None:
    found = []
    for place, case in enumerate(documents("42-schema-silently-dropped.json")):
        asked = case["response_format"]
        wrapped = asked.get("json_schema") or asked
        told = parse(content("42-schema-silently-dropped.json", place))
        found.append(
            (case["expect"], told.grade, told.found and not violations(told.value, wrapped["schema"]))
        )
    log = (INPUTS / "42-schema-silently-dropped.server-log.txt").read_text()
    assert "failed to parse grammar" in log  # all that the server says, where no client can read it
    assert found == [
        ("conforms", "strict", True),
        ("not JSON", "invalid", False),
        ("JSON, wrong schema", "strict", False),
        ("not JSON (grammar failed to parse, server went on unconstrained)", "invalid", False),
    ]


@pytest.mark.case(42)
@pytest.mark.parametrize(
    ("place", "grade"), [(0, "unenforced"), (1, "invalid"), (2, "unenforced"), (3, "invalid")]
)
def test_a_schema_that_was_dropped_is_a_failure(place: int, grade: str) -> None:
    text = content("42-schema-silently-dropped.json", place)
    assert play(JSON, of("schema", text=text)).missed()["json.schema"] == (False, grade)


@pytest.mark.case(42)
@settings(max_examples=30)
@given(st.integers(0, 200))
def test_no_model_meets_the_schema_by_chance(number: int) -> None:
    """An answer that is as right as the prompt alone can make it lacks what only the schema has."""
    asked = play(JSON, number=number).asks[-1]
    assert asked.response_format is not None
    assert set(asked.response_format["json_schema"]) == {"name", "strict", "schema"}
    text = right_answer(replace(asked, response_format=None))
    dropped = play(JSON, of("schema", text=text), number=number).missed()
    assert dropped["json.schema"] == (False, "unenforced")


@pytest.mark.case(45)
def test_a_truncation_says_whose_it_is(over_sockets: Sockets) -> None:
    for found in over_sockets.values():
        stop, length = found["45-truncated-but-stop.json 0"], found["45-truncated-length.json 0"]
        assert stop.outcome == length.outcome == "ok"
        assert [note.partition(":")[0] for note in stop.notes] == ["stop_at_limit"]
        assert length.notes == ()
    for exchange, outcome, grade, words in (
        (stop, False, "truncated_stop", "finish_reason says 'stop': it is wrong"),
        (length, None, "truncated", "our own limit"),
    ):
        tokens = make("structured_json", tokens=20)
        changed = of("plain", text=exchange.text, finish_reason=exchange.finish_reason, completion_tokens=20)
        played = play(tokens, changed)
        assert played.outcomes()["json.strict"] == [(outcome, grade)]
        assert words in played.reason("json.strict")
    run = evidence(check("some.check"), [structs.replace(stop, id=f"s{n}") for n in range(3)], length)
    wrong = adjudicate("protocol", run)["stop_at_limit"]
    assert (wrong.outcome, len(wrong.exchanges)) == (Outcome.FAIL, 3)


@pytest.mark.case(46)
def test_a_budget_that_went_into_reasoning_is_ours(over_sockets: Sockets, read: Read) -> None:
    for found in over_sockets.values():
        spent = found["46-reasoning-eats-budget.json 0"]
        assert (spent.failure, spent.text, spent.completion_tokens) == (Failure.BUDGET, "", 512)
        assert spent.reasoning.startswith("Okay, the user wants")
    judgement = adjudicate("functional", evidence(check("some.check"), spent))["exchanges: budget"]
    assert (judgement.outcome, judgement.fault) == (Outcome.ERROR, "ours")
    for exchange in read("46-reasoning-field-variants.sse"):
        assert (exchange.reasoning, exchange.text) == ("think more ", '{"a":1}')


@pytest.mark.case(46)
@given(st.sampled_from(["reasoning_content", "reasoning"]), st.text('ab{}:1" ', min_size=1, max_size=12))
def test_reasoning_is_never_the_answer(field: str, thought: str) -> None:
    exchange = read(events(chunk({field: thought}), chunk(finish="length"), DONE), max_tokens=0)
    assert (exchange.failure, exchange.reasoning, exchange.text) == (Failure.BUDGET, thought, "")
    answered = read(events(chunk({field: '{"a": 1}'}), chunk({"content": '{"a": 2}'}), STOP, DONE))
    assert parse(answered.text).value == {"a": 2}


@pytest.mark.case(81)
def test_a_small_probe_of_a_reasoning_model_blames_nobody_but_itself(over_sockets: Sockets) -> None:
    for found in over_sockets.values():
        probe = found["81-probe-under-reasoning-floor.json 0"]
        assert (probe.failure, probe.completion_tokens, probe.max_tokens) == (Failure.BUDGET, 10, 10)
    judgement = adjudicate("functional", evidence(check("some.check"), probe))["exchanges: budget"]
    assert (judgement.outcome, judgement.fault) == (Outcome.ERROR, "ours")


@pytest.mark.case(81)
def test_the_first_question_to_a_server_wants_a_token_and_no_content() -> None:
    case = json.loads((INPUTS / "81-probe-under-reasoning-floor.json").read_text())
    answers = {
        "/health": document("200 OK", {"status": "ok"}),
        "/v1/models": document("200 OK", {"data": [{"id": "thinker"}]}),
        "/v1/chat/completions": document("200 OK", {**case["response"], "model": "thinker"}),
        "/slots": document("200 OK", [{"id": 0, "is_processing": False, "n_ctx": 4096}]),
    }
    with answering(answers) as url:
        target = examine(url, model=None, credentials=Credentials(), timeout=10)
    assert (target.model, target.slots) == ("thinker", 1)
