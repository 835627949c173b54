"""A burst on a cold prefix: the first burst and the next are told apart, and so is whose answer came."""

import dataclasses

import pytest
from playing import AROUND, make, of, play

from soakproof.context import Secrets

BURST = make("shared_prefix", clients=4)
FOUR = dataclasses.replace(AROUND, slots=4)


def test_all_ask_about_one_register_and_each_another_record() -> None:
    played = play(BURST, around=FOUR)
    cold, warm = played.asks[:4], played.asks[4:]
    assert [a.role for a in played.asks] == [f"{p}-{n}" for p in ("cold", "warm") for n in range(1, 5)]
    registers = {a.chat()[0]["content"].rpartition("\n\n")[0] for a in played.asks}
    assert len(registers) == 1
    assert len({e.text for e in played.exchanges[:4]}) == 4
    assert len(cold) == len(warm) == 4
    assert len({e.sent_ns for e in played.exchanges[:4]}) == 1


@pytest.mark.parametrize("phase", ["cold", "warm"])
@pytest.mark.parametrize("text", ["pre3 pre3 pre3", "!!!!", "", "the answer"])
def test_a_wrong_answer_of_one_burst(phase: str, text: str) -> None:
    played = play(BURST, of(f"{phase}-3", text=text), around=FOUR)
    assert played.missed() == {f"prefix.{phase}": (False, "wrong")}
    assert len(played.outcomes()[f"prefix.{phase}"]) == 4


def test_the_answer_of_another_client_and_of_another_record() -> None:
    played = play(BURST, around=FOUR)
    theirs = played.exchanges[1].text
    assert play(BURST, of("cold-1", text=theirs), around=FOUR).missed() == {"prefix.cold": (False, "swapped")}
    lines = played.asks[0].chat()[0]["content"].split("\n")
    codes = {line.split("code ")[1][:9] for line in lines if line.startswith("Record")}
    nobodys = sorted(codes - {e.text for e in played.exchanges})[0]
    assert play(BURST, of("warm-1", text=nobodys), around=FOUR).missed() == {
        "prefix.warm": (False, "other_record")
    }


def test_a_secret_of_another_iteration_is_foreign() -> None:
    secrets = Secrets()
    code = play(BURST, secrets=secrets, around=FOUR).exchanges[0].text
    played = play(BURST, of("cold-2", text=code), secrets=secrets, number=1, around=FOUR)
    assert played.missed() == {"prefix.cold": (False, "foreign")}


def test_a_register_that_was_not_cold_is_dealt_anew() -> None:
    """Cold is a burst in which one client at least found nothing: the others may have it from that one."""
    assert play(BURST, around=FOUR).result.counts == {"prefix.deals": 1}
    known = play(BURST, of("cold-1", cached_tokens=900), around=FOUR)
    assert known.result.counts == {"prefix.deals": 8}
    assert known.missed() == {}


def test_width_follows_the_clients_and_the_slots() -> None:
    assert BURST.width == 4
    assert len(play(BURST).asks) == 4
    assert len(play(BURST, around=dataclasses.replace(AROUND, slots=1)).asks) == 4
