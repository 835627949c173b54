"""The reader of /slots: every shape of the recorded builds, and nothing that makes it fall."""

import json
from typing import Any

import pytest
from caseinputs import INPUTS
from hypothesis import given
from hypothesis import strategies as st

from soakproof.slots import Slot, UnknownShapeError, parse_slots
from soakproof.watch.backend_slots import slot_values


def case(name: str) -> Any:
    return json.loads((INPUTS / name).read_text())


def test_new_list_ignores_what_idle_slots_remember() -> None:
    idle, busy, unused, empty = parse_slots(case("50-slots-new-list.json"))
    assert idle == Slot(id=0, busy=False, task=684035, context=122880)
    assert busy == Slot(
        id=1, busy=True, task=684040, context=122880, decoded=60, prompt_processed=51200, prompt_tokens=51200
    )
    assert unused == Slot(id=2, busy=False, context=122880)
    assert empty == Slot(id=3, busy=False, task=5, context=122880)


def test_wrapped() -> None:
    (slot,) = parse_slots(case("50-slots-wrapped.json"))
    assert (slot.busy, slot.decoded, slot.prompt_tokens) == (True, 340, 12000)
    assert parse_slots({"data": case("50-slots-wrapped.json")["slots"]}) == (slot,)


def test_next_token_as_an_object() -> None:
    assert [(s.busy, s.task, s.decoded) for s in parse_slots(case("50-slots-readme-dict.json"))] == [
        (True, 135, 0),
        (True, 0, 136),
    ]


@pytest.mark.parametrize("name", ["50-slots-old-state.json", "50-slots-lemonade-doc.json"])
def test_state_in_place_of_is_processing(name: str) -> None:
    assert [s.busy for s in parse_slots(case(name))] == [False, True]


def test_keyed_by_id() -> None:
    document = {"0": {"is_processing": False}, "7": {"is_processing": True, "params": {"seed": 11}}}
    assert [(s.id, s.busy, s.seed) for s in parse_slots(document)] == [(0, False, None), (7, True, 11)]


def test_seed_only_while_busy_and_only_when_it_was_given() -> None:
    def seeds(busy: bool, seed: object) -> int | None:
        return parse_slots([{"id": 0, "is_processing": busy, "params": {"seed": seed}}])[0].seed

    assert seeds(True, 42) == 42
    assert seeds(False, 42) is None
    assert seeds(True, 4294967295) is None  # llama.cpp's "none was given"
    assert seeds(True, "x") is None


@pytest.mark.parametrize(
    "document",
    [
        None,
        "idle",
        {},
        3,
        {"error": {"code": 501, "message": "This server does not support slots endpoint."}},
        {"object": "list", "data": [{"id": "probe", "object": "model"}]},
        [{"id": 0, "n_ctx": 4096}],
        [[]],
        [{"id": 0, "state": "melting"}],
    ],
)
def test_anything_else_is_an_unknown_shape(document: Any) -> None:
    with pytest.raises(UnknownShapeError):
        parse_slots(document)


def test_the_error_shows_only_a_bounded_sample() -> None:
    with pytest.raises(UnknownShapeError) as error:
        parse_slots([{"text": "x" * 100_000}])
    assert len(str(error.value)) < 400


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["slots", "data", "id", "state", "is_processing", "next_token", "params", "0"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_document_is_read_or_refused(document: Any) -> None:
    try:
        slots = parse_slots(document)
    except UnknownShapeError:
        return
    assert all(isinstance(s.busy, bool) for s in slots)
    assert all(s.decoded is None and s.seed is None for s in slots if not s.busy)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2**31), st.integers(0, 10**6)), max_size=6))
def test_the_shapes_agree(slots: list[tuple[bool, int, int]]) -> None:
    """The same slots in each shape read the same."""

    def entry(number: int, listed: bool) -> dict[str, Any]:
        busy, seed, decoded = slots[number]
        token = {"n_decoded": decoded}
        return {
            "id": number,
            "is_processing": busy,
            "params": {"seed": seed},
            "next_token": [token] if listed else token,
        }

    plain = [entry(n, True) for n in range(len(slots))]
    expected = parse_slots(plain)
    assert parse_slots({"slots": plain}) == parse_slots({"data": {"slots": plain}}) == expected
    assert parse_slots([entry(n, False) for n in range(len(slots))]) == expected
    if slots:
        assert parse_slots({str(n): entry(n, True) for n in range(len(slots))}) == expected


def test_what_the_request_asked_for_is_shown_as_long_as_it_is_worked_on() -> None:
    params = {"seed": 7, "temperature": 0.800000011920929, "max_tokens": 300, "n_predict": 256}
    busy, idle = ({"id": n, "is_processing": not n, "params": params} for n in range(2))
    shown, forgotten = parse_slots([busy, idle])
    assert (shown.temperature, shown.max_tokens, shown.seedless) == (0.800000011920929, 256, False)
    assert (forgotten.temperature, forgotten.max_tokens) == (None, None)


@pytest.mark.parametrize("value", ["hot", True, float("nan"), 10**400, None, [0.8]])
def test_a_temperature_that_is_none_is_left_out(value: Any) -> None:
    (slot,) = parse_slots([{"is_processing": True, "params": {"temperature": value, "n_predict": -1}}])
    assert (slot.temperature, slot.max_tokens) == (None, None)


def test_a_request_that_came_without_a_seed_says_so() -> None:
    (slot,) = parse_slots([{"is_processing": True, "params": {"seed": 0xFFFFFFFF}}])
    assert (slot.seed, slot.seedless) == (None, True)


def test_a_sample_tells_the_last_task_of_idle_slots_too() -> None:
    slots = parse_slots([{"is_processing": True, "id_task": 4}, {"is_processing": False, "id_task": 3}])
    assert slot_values(slots)["last_tasks"] == [4, 3]


@pytest.mark.parametrize("told", [10**400, -(10**400), 1e308, 2**63])
def test_numbers_that_nothing_has_are_none(told: float) -> None:
    params = {"seed": told, "n_predict": told}
    entry = {"id": told, "id_task": told, "n_ctx": told, "n_prompt_tokens": told, "params": params}
    (slot,) = parse_slots([{**entry, "is_processing": True, "next_token": {"n_decoded": told}}])
    assert slot == Slot(id=None, busy=True)
