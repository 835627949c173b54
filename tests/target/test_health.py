"""The entry of the model that answered, by all the names that Lemonade takes."""

import pytest

from soakproof.target.health import entry_of

HEALTH = {
    "all_models_loaded": [
        {"model_name": "Other", "pid": 1, "last_use": 9},
        {"model_name": "Probe", "pid": 2, "last_use": 5},
    ]
}


@pytest.mark.parametrize("answered", ["Probe", "user.Probe", "Probe:latest"])
def test_the_model_that_answered_whatever_was_asked(answered: str):
    assert entry_of(HEALTH, answered, "llm")["pid"] == 2


def test_an_alias_alone_falls_to_the_model_used_last():
    assert entry_of(HEALTH, None, "llm")["pid"] == 1


@pytest.mark.parametrize("health", [{}, {"all_models_loaded": None}, {"all_models_loaded": ["x"]}])
def test_a_document_without_models_has_no_entry(health: dict):
    assert entry_of(health, "Probe", "llm") == {}
