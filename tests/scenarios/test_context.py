"""What a scenario is given: secrets and their memory, sizes, phrases, counts of traffic."""

import dataclasses
import itertools
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from playing import AROUND, make, play

from soakproof.context import (
    NONCE_LETTERS,
    IterationContext,
    Secrets,
    Traffic,
    disguised,
    nonces,
    respelled,
)
from soakproof.prompts import register
from soakproof.records import Failure
from soakproof.scenario import After, Ask, Scenario


def context(number: int = 0, seed: int = 1, secrets: Secrets | None = None) -> IterationContext:
    return IterationContext("kind", number, seed, AROUND, secrets or Secrets())


def test_nonces_are_told_from_other_words() -> None:
    text = "Code ABCD-2345 and WXYZ6789-01, not abcd-2345, ABCDEFGHJ, ABCD-23456, 0123-4567 or A-B."
    assert nonces(text) == {"ABCD-2345", "WXYZ6789"}


@given(st.text("BCDFG479AEI01-. \n", max_size=60))
def test_nonces_stand_alone(text: str) -> None:
    plain = re.compile(r"(?<![A-Z0-9])(?:[A-HJ-NP-Z2-9]{8}|[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4})(?![A-Z0-9])")
    assert nonces(text) == frozenset(plain.findall(text))


@given(st.text("BCDfgh479aeI01-. é\n", max_size=80))
def test_disguised_are_any_eight_letters_in_a_row_whatever_stands_between(text: str) -> None:
    bare = "".join(c for c in text.upper() if c.isascii() and c.isalnum())
    eights = (bare[at : at + 8] for at in range(len(bare) - 7))
    assert disguised(text) == {eight for eight in eights if set(eight) <= set(NONCE_LETTERS)}


@given(st.lists(st.sampled_from(["", "-", ".", " "]), min_size=7, max_size=7), st.booleans())
def test_a_nonce_is_known_in_other_spellings(marks: list[str], small: bool) -> None:
    told = "".join(letter + mark for letter, mark in zip("7QGBJ9HX", [*marks, ""], strict=True))
    told = told.lower() if small else told
    assert respelled(f"b1 {told}, a") == {"7QGBJ9HX"}


def test_every_secret_is_known_in_any_text_and_drawn_again_by_the_same_seed() -> None:
    secrets = Secrets()
    it = context(secrets=secrets)
    made = [it.nonce(), it.code(), it.secret(3)]
    assert secrets.known(f"so {made[0]}, {made[1]}; {made[2]}.") == {*made[:2], made[2][:8]}
    assert re.fullmatch(r"(\w{8})-01 \1-02 \1-03", made[2])
    again = context()
    assert [again.nonce(), again.code(), again.secret(3)] == made
    assert context(number=1).nonce() != made[0]
    assert context(seed=2).nonce() != made[0]
    assert secrets.known(it.code(secret=False)) == frozenset()


def test_own_secrets_are_not_foreign() -> None:
    secrets = Secrets()
    it = context(secrets=secrets)
    mine, yours = it.nonce(), it.nonce()
    exchange = play(make("long_prose")).exchanges[0]
    told = structs.replace(exchange, text=f"{mine} {yours} QQQQQQQQ", secrets=(mine,))
    assert it.foreign(told) == {yours}
    assert it.foreign(structs.replace(told, text="", reasoning=yours)) == {yours}
    called = f'[{{"name": "say", "arguments": "{{\\"x\\": \\"{yours}\\"}}"}}]'
    assert it.foreign(structs.replace(told, text="", tool_calls=called)) == {yours}
    assert it.foreign() == frozenset()


def test_sizes_are_capped_by_the_slot() -> None:
    it = context()
    assert it.chars(1000) == 2500
    assert it.chars(10**6) == int(16384 * 0.5 * 2.5)
    assert it.tokens(768) == 768
    assert it.tokens(10**6) == 4096
    assert it.tokens(0) == 1


def test_phrases_take_their_parts_as_they_are() -> None:
    """A part may look like a placeholder, and no text is a format string."""
    around = dataclasses.replace(AROUND, corpora={"say": [r"Say:\n{x} by {name}"]})
    it = IterationContext("kind", 0, 1, around, Secrets())
    assert it.phrase("say", x="{y} {0} %s", name=5) == "Say:\n{y} {0} %s by 5"
    with pytest.raises(LookupError, match="no corpus 'sing'; there are: say"):
        it.phrase("sing")


def test_traffic_counts_what_the_server_tells_and_estimates_the_rest() -> None:
    traffic = Traffic(chars_per_token=2.0)
    exchange = play(make("long_prose")).exchanges[0]
    traffic.add(structs.replace(exchange, prompt_tokens=100, completion_tokens=20))
    assert traffic.tokens == 120
    silent = structs.replace(exchange, prompt_tokens=None, completion_tokens=None)
    traffic.add(structs.replace(silent, prompt_chars=200, token_events=7))
    assert traffic.tokens == 227
    traffic.add(structs.replace(silent, refusal_planned=True, failure=Failure.CONTEXT))
    assert traffic.tokens == 227  # no slot has seen it
    assert context().tokens_seen() is None


def test_a_register_asks_for_each_of_its_parts_and_remembers_only_what_it_asks() -> None:
    secrets = Secrets()
    it = context(secrets=secrets)
    made = register(it, 1000, asked=3)
    lines = made.text.splitlines()[2:]
    assert len(lines) == len(made.codes)
    assert 2400 < len(made.text) < 2700
    places = sorted(list(made.codes).index(record) * 3 // len(lines) for record in made.asked)
    assert places[0] == 0
    assert places[-1] == 2
    assert len(secrets.known(made.text)) == 4  # the register's nonce and three codes
    assert all(f"Record {record}: " in made.text and code in made.text for record, code in made.codes.items())


def test_a_register_asks_for_the_codes_that_are_least_like_the_others() -> None:
    """A model that slips from one code into a like one would be taken for a server that mixes prompts."""
    made = register(context(), 1200)
    pairs = Counter(pair for code in made.codes.values() for pair in itertools.pairwise(code))
    likeness = {r: sum(pairs[p] for p in itertools.pairwise(code)) for r, code in made.codes.items()}
    assert likeness[made.asked[0]] == min(likeness.values())
    assert next(iter(made.codes)) in {"0000", "0001"}


def test_a_tiny_slot_still_gets_a_register() -> None:
    around = dataclasses.replace(AROUND, slot_context=64)
    made = register(IterationContext("kind", 0, 1, around, Secrets()), 1000, asked=8)
    assert len(made.codes) == 8
    assert len(set(made.asked)) == 8


def test_a_cancel_is_by_tokens_or_by_time() -> None:
    with pytest.raises(ValueError, match="either tokens or seconds"):
        After()
    with pytest.raises(ValueError, match="either tokens or seconds"):
        After(tokens=1, seconds=1.0)
    assert str(After(tokens=20)) == "decode: after 20 token events"


def test_messages() -> None:
    assert Ask("hello").chat() == [{"role": "user", "content": "hello"}]
    assert [m["role"] for m in Ask((("system", "s"), ("user", "u"))).chat()] == ["system", "user"]


def test_width_may_be_written_or_worked_out() -> None:
    @dataclasses.dataclass(frozen=True)
    class Written(Scenario):
        """Two."""

        width = 2

    assert Scenario().width == 1
    assert Written().width == 2
    assert make("isolation", clients=3).width == 3
