"""What /slots, /metrics, /health and /models answer in all their shapes: a value, or a state that is no 0."""

import json

import pytest
from caseinputs import INPUTS
from hypothesis import given
from hypothesis import strategies as st
from misbehaving import ANSWER, document
from watching import HANGS, answering, health, slots

from soakproof.judge import Outcome
from soakproof.records import SourceState
from soakproof.slots import UnknownShapeError, parse_slots
from soakproof.target import examine
from soakproof.target.credentials import Credentials
from soakproof.testing.evidence import adjudicate, check, evidence, sample

KEYS = ["id", "is_processing", "next_token", "params", "n_ctx"]
WELL = document("200 OK", {"status": "ok"})


def raw(name: str) -> bytes:
    return (INPUTS / name).read_bytes()


def page(name: str) -> bytes:
    return document("200 OK", raw(name), "text/plain; version=0.0.4")


@pytest.mark.case(20)
def test_slots_that_hang_while_the_health_answers() -> None:
    with answering({"/health": WELL, "/slots": HANGS}) as url:
        assert health(url).values == {"status_code": 200, "ok": True}
        silent = slots(url, bound_s=0.3)
    assert (silent.state, silent.values) == ("timeout", {})


@pytest.mark.case(49)
@pytest.mark.parametrize(
    ("response", "state", "word"),
    [
        (raw("49-metrics-501.http"), "unsupported", "does not support"),
        (raw("49-router-needs-model.http"), "error", "model name is missing"),
        (raw("49-html-instead.http"), "error", "text/html"),
        (page("49-metrics-new.prom"), "error", "no JSON"),
        (page("49-metrics-old.prom"), "error", "no JSON"),
        (document("401 Unauthorized", {"error": "key"}), "denied", "401"),
    ],
    ids=["501", "router", "page", "new families", "old families", "unauthorised"],
)
def test_a_source_that_is_not_there_has_a_state_and_no_value(
    response: bytes, state: SourceState, word: str
) -> None:
    with answering({"/health": WELL, "/slots": response}) as url:
        found = slots(url)
    assert found.state == state
    assert word in found.reason
    assert "busy" not in found.values
    unseen = [sample("slots", at, state=found.state, reason=found.reason) for at in range(0, 60, 3)]
    run = evidence(check("some.check"), unseen)
    judged = adjudicate("slots", run, required=True)["slots"]
    assert (judged.outcome, judged.critical) == (Outcome.INCONCLUSIVE, True)
    assert word in judged.answer


@pytest.mark.case(50)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("50-slots-old-state.json", [(False, None), (True, None)]),
        ("50-slots-lemonade-doc.json", [(False, None), (True, 15)]),
        ("50-slots-readme-dict.json", [(True, 0), (True, 136)]),
        ("50-slots-new-list.json", [(False, None), (True, 60), (False, None), (False, None)]),
        ("50-slots-wrapped.json", [(True, 340)]),
    ],
)
def test_every_shape_of_slots(name: str, expected: list[tuple[bool, int | None]]) -> None:
    """Whether each is busy, and what it has decoded; an idle one keeps an old count, which is not read."""
    assert [(slot.busy, slot.decoded) for slot in parse_slots(json.loads(raw(name)))] == expected
    with answering({"/health": WELL, "/slots": document("200 OK", json.loads(raw(name)))}) as url:
        found = slots(url)
    assert found.state == "value"
    assert found.values["total"] == len(expected)
    assert found.values["busy"] == sum(busy for busy, _ in expected)
    assert found.values["decoded"] == [decoded for busy, decoded in expected if busy]


@pytest.mark.case(50)
@given(
    st.permutations(["id", "is_processing", "next_token", "params", "n_ctx"]), st.booleans(), st.booleans()
)
def test_the_order_of_keys_and_the_list_around_a_token_say_nothing(
    order: list[str], listed: bool, busy: bool
) -> None:
    token = {"n_decoded": 7}
    values = {"id": 3, "is_processing": busy, "params": {"seed": 5}, "n_ctx": 64}
    values["next_token"] = [token] if listed else token
    (slot,) = parse_slots([{key: values[key] for key in order}])
    assert (slot.id, slot.busy, slot.context) == (3, busy, 64)
    assert (slot.seed, slot.decoded) == ((5, 7) if busy else (None, None))


@pytest.mark.case(50)
def test_an_unknown_shape_is_not_evaluable_and_shown() -> None:
    with pytest.raises(UnknownShapeError, match="warm"):
        parse_slots([{"id": 0, "phase": "warm"}])
    with answering({"/slots": document("200 OK", [{"id": 0, "phase": "warm"}])}) as url:
        found = slots(url)
    assert found.state == "error"
    assert "not evaluable" in found.reason
    assert "warm" in found.reason


@pytest.mark.case(52)
def test_flags_of_models_that_failed_are_not_believed() -> None:
    """A router says so of models that were never loaded, or unloaded on purpose."""
    models = json.loads(raw("52-router-models-failed-flag.json"))
    serves = {
        "/health": WELL,
        "/v1/models": document("200 OK", models),
        "/models": document("200 OK", models),
    }
    idle = document("200 OK", [{"id": 0, "is_processing": False, "n_ctx": 4096}])
    chat = {"/v1/chat/completions": document("200 OK", ANSWER), "/slots": idle}
    with answering({**serves, **chat}) as url:
        target = examine(url, model="running", credentials=Credentials(), timeout=10)
        seen = health(url)
    assert (target.model, target.slots) == ("running", 1)
    assert not any("fail" in remark or "exit" in remark for remark in target.remarks)
    assert seen.values == {"status_code": 200, "ok": True}
