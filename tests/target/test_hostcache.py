"""What the launch of a llama.cpp server tells of its host-memory prompt cache."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.target.hostcache import BYTES_A_TOKEN, cache_tokens

CONTEXT = 65_536


def launched(*more: str, model: str = "/models/m.gguf") -> int | None:
    command = ["llama-server", "-m", model, "-np", "2", *more]
    return cache_tokens({"recipe": "llamacpp", "launch_command": command}, CONTEXT)


@pytest.mark.parametrize(
    ("more", "tokens"),
    [
        ([], 32_768),
        (["--cache-ram", "8192"], 32_768),
        (["--cache-ram", "1024"], 4096),
        (["-cram", "1024"], 4096),
        (["--cache-ram", "1024", "--cache-ram", "2048"], 8192),
        (["--cache-ram", "0"], 0),
        (["--cache-ram", "-1"], CONTEXT),
        (["--cache-ram", "much"], None),
        (["--cache-ram"], None),
    ],
)
def test_the_size_that_the_launch_asks_for(more: list[str], tokens: int | None) -> None:
    assert launched(*more) == tokens


def test_the_default_holds_32000_tokens_at_least() -> None:
    assert (launched() or 0) >= 32_000


def test_the_probe_models_tokens_are_small() -> None:
    small = launched("--cache-ram", "256", model="/models/soak-probe-7m-q8_0.gguf")
    assert small == pytest.approx(32_000, rel=0.01)


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"recipe_options": {"llamacpp_args": "-np 2 --cache-ram 512"}}, 2048),
        ({"recipe_options": {"llamacpp_args": "--name 'open --cache-ram 512"}}, 2048),
        ({"recipe_options": {"llamacpp_args": "-np 2"}}, 32_768),
        ({"recipe_options": {"llamacpp_args": ""}}, None),
        ({"recipe_options": {"ctx_size": 4096}}, None),
        ({"recipe_options": ["x"], "launch_command": "x"}, None),
        ({}, None),
        ({"recipe": "flm", "launch_command": ["flm", "serve"]}, None),
    ],
)
def test_without_a_launch_command(told: dict[str, Any], tokens: int | None) -> None:
    assert cache_tokens({"recipe": "llamacpp", **told}, CONTEXT) == tokens


def test_a_server_without_a_recipe_tells_nothing() -> None:
    assert cache_tokens({"model_resolved": "m.gguf"}, CONTEXT) is None


@given(st.lists(st.one_of(st.text(), st.integers(), st.none(), st.just("--cache-ram"))), st.integers())
def test_any_words_end_in_tokens_or_in_nothing(words: list[Any], mib: int) -> None:
    told = cache_tokens({"recipe": "llamacpp", "launch_command": [*words, "--cache-ram", str(mib)]}, CONTEXT)
    assert told is None or 0 <= told <= max(CONTEXT, (10**9 << 20) // min(BYTES_A_TOKEN, 8400))
