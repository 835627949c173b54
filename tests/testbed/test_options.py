"""Options and names: no process needed."""

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.testbed import options
from soakproof.testbed.names import AliasConflict, Names
from soakproof.testbed.options import EngineOptions
from soakproof.testbed.stats import Stats

sizes = st.integers(1, 1 << 20)
engine_options = st.builds(
    EngineOptions,
    **dict.fromkeys(("context", "slots", "threads", "threads_batch", "batch", "ubatch", "cache_ram"), sizes),
    flash_attention=st.sampled_from(["on", "off", "auto"]),
)
short_names = st.sampled_from(["a", "b", "c", "d", "Probe", "user.Probe", "ghost"])


@given(engine_options)
def test_the_command_line_says_all_of_the_options(wanted: EngineOptions):
    parser = argparse.ArgumentParser()
    options.add_to(parser)
    assert options.of(parser.parse_args(wanted.arguments())) == wanted


@given(engine_options)
def test_the_recipe_options_load_the_same_again(wanted: EngineOptions):
    recipe = wanted.recipe_options()
    assert EngineOptions().changed(wanted.context, str(recipe["llamacpp_args"])) == wanted
    assert wanted.changed(None, None) == wanted


@pytest.mark.parametrize("bad", ["--frobnicate 3", "-np two", "-np", "extra"])
def test_arguments_that_are_not_known_are_an_error(bad: str):
    with pytest.raises(ValueError, match=r"\w"):
        EngineOptions().changed(None, bad)


@given(st.lists(st.tuples(short_names, short_names)))
def test_aliases_never_go_round_and_stand_for_no_alias(pairs: list[tuple[str, str]]):
    names = Names("Probe")
    for alias, target in pairs:
        try:
            names.add(alias, target)
        except AliasConflict:
            continue
        assert names.resolve(alias) == names.resolve(target)
    assert all(names.resolve(alias) not in names.aliases for alias in names.aliases)
    assert not names.known("ghost")


def test_a_chain_of_aliases_has_an_end():
    names = Names("Probe")
    names.add("n0", "Probe")
    for number in range(1, 10):
        names.add(f"n{number}", f"n{number - 1}")
    with pytest.raises(AliasConflict, match="max depth of 10"):
        names.add("n10", "n9")
    assert names.resolve("n9") == "Probe"


def test_a_stream_without_timings_counts_as_a_request_that_told_nothing():
    stats = Stats()
    stats.note_stream(b'data: {"choices":[]}\n\ndata: [DONE]\n\n')
    assert stats.document()["request_count_total"] == 1
    assert stats.document()["output_tokens"] is None
