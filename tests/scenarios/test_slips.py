"""A model's own slip is asked again and told as that; what is wrong in another way, or only once, fails."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from playing import AROUND, Played, Server, make, of, play

from soakproof.context import IterationContext, Secrets, Traffic
from soakproof.iteration import Stepper
from soakproof.records import Exchange, Failure
from soakproof.scenario import Ask
from soakproof.slips import is_near

ID = "chatcmpl-8Fh2Kd93Lm5Qx7Zt"
PAIR = make("cache_pair", in_system=0)
WHERE = [
    ("cache_pair", "changed", "cache.exact"),
    ("returning", "again", "returning.again"),
    ("shared_prefix", "cold-1", "prefix.cold"),
    ("near_context", "edge-middle", "context.middle"),
    ("isolation", "client-1", "isolation.own"),
    ("cancellation", "after", "cancel.after"),
    ("refusals", "after", "refusal.after"),
]


def slipping(kind: str, role: str, *, again: bool) -> Played:
    """Its first answer in that role has one character too many, and with ``again`` so has the one anew."""
    spoiled = itertools.count()

    def change(exchange: Exchange) -> Exchange:
        if exchange.role == f"{role}-anew" and not again:
            return exchange
        if exchange.role in (role, f"{role}-anew") and next(spoiled) < 2:
            return structs.replace(exchange, text=f"{exchange.text}X")
        return exchange

    return play(make(kind), change, around=AROUND)


@pytest.mark.parametrize(("kind", "role", "check"), WHERE)
def test_a_near_miss_that_comes_again_anew_is_the_models_own(kind: str, role: str, check: str) -> None:
    played = slipping(kind, role, again=True)
    assert played.missed() == {check: (None, "slip")}
    (anew,) = [a for a in played.asks if a.role == f"{role}-anew"]
    (first, *_) = [a for a in played.asks if a.role == role]
    assert (anew.messages, anew.more) == (first.messages, {"cache_prompt": False})


@pytest.mark.parametrize(("kind", "role", "check"), WHERE)
def test_a_near_miss_that_does_not_come_again_is_a_fault(kind: str, role: str, check: str) -> None:
    assert slipping(kind, role, again=False).missed()[check][0] is False


def test_a_near_miss_out_of_a_store_of_answers_is_not_the_models_slip() -> None:
    """The same id with it: nothing was computed anew."""

    def change(exchange: Exchange) -> Exchange:
        if exchange.role.startswith("changed"):
            return structs.replace(exchange, text=f"{exchange.text}X", answer_id=ID)
        return exchange

    assert play(PAIR, change).missed()["cache.exact"][0] is False


@pytest.mark.parametrize(
    "fields",
    [
        {"cached_tokens": 300},  # the server takes no heed of cache_prompt: it restored what may be spoiled
        {"cached_tokens": None},  # nobody knows
        {
            "failure": Failure.CONFIGURATION,
            "status": 400,
            "text": "",
        },  # refused
        {"outcome": "fail", "failure": Failure.STALL},
    ],
)
def test_what_was_not_shown_to_be_computed_anew_excuses_nothing(fields: dict[str, Any]) -> None:
    def change(exchange: Exchange) -> Exchange:
        if exchange.role == "changed":
            return structs.replace(exchange, text=f"{exchange.text}X")
        if exchange.role == "changed-anew":
            return structs.replace(exchange, **{"text": f"{exchange.text}X", **fields})
        return exchange

    assert play(PAIR, change).missed() == {"cache.exact": (False, "wrong")}


def test_a_run_that_ends_while_it_is_asked_again_keeps_the_failed_check() -> None:
    context = IterationContext("kind", 0, 1, AROUND, Secrets(), Traffic(2.5))
    server = Server(AROUND, Secrets(), Traffic(2.5), of("changed", text=lambda text: f"{text}X"))
    stepper = Stepper(PAIR, context)
    wanted = stepper.begin()
    while isinstance(wanted, Ask) and wanted.role != "changed-anew":
        wanted = stepper.reply(server.answer(wanted, server.now))
    stepper.stop("the run ends")
    (failed,) = [c for c in stepper.result().checked if c.outcome is False]
    assert (failed.name, failed.grade) == ("cache.exact", "wrong")


def test_an_answer_that_was_cut_is_no_slip() -> None:
    def change(exchange: Exchange) -> Exchange:
        if exchange.role != "changed":
            return exchange
        return structs.replace(exchange, text=exchange.text[:-1], finish_reason="length")

    played = play(PAIR, change)
    assert played.missed()["cache.exact"][0] is False
    assert not any(ask.role.endswith("-anew") for ask in played.asks)


@pytest.mark.parametrize("text", ["", "AAAA-2222", "the code is unknown"])
def test_what_is_no_near_miss_is_not_asked_again(text: str) -> None:
    def change(exchange: Exchange) -> Exchange:
        return structs.replace(exchange, text=text) if exchange.role.startswith("changed") else exchange

    played = play(PAIR, change)
    assert played.missed()["cache.exact"][0] is False
    assert not any(ask.role.endswith("-anew") for ask in played.asks)


CODE = st.text("ABCD2345", min_size=8, max_size=12)


@given(CODE, st.data())
def test_up_to_two_characters_of_a_code(want: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(want) - 1))
    once = [want[:at] + "x" + want[at + 1 :], want[:at] + want[at + 1 :], want[:at] + "x" + want[at:]]
    for text in once:
        assert is_near(text, want)
        assert is_near(f"{text}y", want)
        assert not is_near(f"{text}yyy", want)
    assert not is_near(want, want)
    assert not is_near("xxx" + want[3:], want)


@pytest.mark.parametrize(("want", "text"), [("7SHF-GKQR", "7SHF-GKQB"), ("CH7P-DWVQ", "CH7P-DV7Q")])
def test_slips_that_the_probe_model_was_seen_to_make(want: str, text: str) -> None:
    assert is_near(text, want)


def test_a_short_word_has_little_that_may_be_missing() -> None:
    assert not is_near("no", "yes")
    assert not is_near("yet", "yes")


def test_some_words_of_a_line_that_the_probe_model_was_seen_to_garble() -> None:
    want = "november inlet grove dune golf ochre\nwillow lagoon whiskey amber lima hotel"
    assert is_near("november inlet grove dune golf ochre delgumber lagoon zulu bravo lima hel", want)
    assert not is_near("november inlet grove dune golf delgumber lagoon zulu bravo lima hel", want)
    assert not is_near("november inlet grove dune golf ochre", want)


@pytest.mark.timeout(10)
def test_long_lines_are_compared_in_bounded_time() -> None:
    words = [f"w{n}" for n in range(1000)]
    assert is_near(" ".join(words[:-1]), " ".join(words))
    assert not is_near(" ".join(reversed(words)), " ".join(words))


def test_one_word_of_a_line() -> None:
    assert is_near("iron canvas river", "iron canyon river")
    assert is_near("iron canyon", "iron canyon river")
    assert not is_near("canyon iron river", "iron canyon river")
    assert not is_near("iron", "iron canyon river")
