"""Isolation: swapped, mixed and leaked answers are each told apart, and clean ones are not accused."""

import dataclasses

import pytest
from msgspec import structs
from playing import AROUND, make, of, play

from soakproof.context import Secrets
from soakproof.records import Exchange

PAIR = make("isolation", without_marker=0, with_secret=0)
PLAIN = make("isolation", without_marker=1, with_secret=0)
GUARDED = make("isolation", without_marker=0, with_secret=1)


def line(number: int, scenario: object = PAIR) -> str:
    return play(scenario).exchanges[number].text  # type: ignore[arg-type]


def test_anothers_whole_line() -> None:
    """Word for word the answer of the other client, as parallel slots have given it."""
    played = play(PAIR, of("client-1", text=line(1)))
    assert played.missed() == {"isolation.own": (False, "swapped"), "isolation.foreign": (False, "")}
    assert line(1).split("-")[0] in played.reason("isolation.foreign")


def test_a_part_of_anothers_line() -> None:
    mine, yours = line(0), line(1)
    played = play(PAIR, of("client-1", text=" ".join(mine.split()[:6] + yours.split()[6:])))
    assert played.missed() == {"isolation.own": (False, "mixed"), "isolation.foreign": (False, "")}


def test_bleeding_without_a_marker_is_seen() -> None:
    """No nonce stands in these lines: what bleeds is told by its words."""
    mine, yours = line(0, PLAIN), line(1, PLAIN)
    mixed = " ".join(mine.split()[:6] + yours.split()[6:])
    assert play(PLAIN, of("client-2", text=mine)).missed() == {"isolation.own": (False, "swapped")}
    assert play(PLAIN, of("client-1", text=mixed)).missed() == {"isolation.own": (False, "mixed")}


def test_white_space_that_was_changed_on_the_way() -> None:
    """A line of plain words has a line break: whoever eats it has changed nothing else."""
    mine = line(0, PLAIN)
    assert mine.count("\n") == 1
    for spoil in ("\n", " "):
        changed = mine.replace(spoil, " " if spoil == "\n" else "  ")
        assert play(PLAIN, of("client-1", text=changed)).missed() == {"isolation.own": (False, "respaced")}
    hard = mine.replace("\n", "\xa0")
    assert play(PLAIN, of("client-1", text=hard)).missed() == {"isolation.own": (False, "respaced")}


def test_a_model_that_always_drops_that_line_break_slips() -> None:
    dropped = line(0, PLAIN).replace("\n", " ")
    server = of("client-1", text=dropped)
    again = of("client-1-anew", text=dropped)
    assert play(PLAIN, lambda e: again(server(e))).missed() == {"isolation.own": (None, "slip")}


def test_a_word_alone_is_not_broken() -> None:
    alone = make("isolation", without_marker=1, with_secret=0, words=1)
    assert play(alone).missed() == {}
    assert "\n" not in line(0, alone)


@pytest.mark.parametrize("spoil", [lambda t: t[:-1], lambda t: f"{t} more", str.lower, lambda t: ""])
def test_a_wrong_answer_is_no_leak(spoil: object) -> None:
    assert play(PAIR, of("client-1", text=spoil)).missed() == {"isolation.own": (False, "wrong")}


def test_white_space_at_the_ends_is_no_fault() -> None:
    assert play(PAIR, of("client-1", text=lambda t: f" {t}\n")).missed() == {}


@pytest.mark.parametrize("where", ["text", "reasoning"])
def test_a_secret_of_an_earlier_request_is_found(where: str) -> None:
    """A run-long memory: iteration 1's line in an answer of iteration 2."""
    secrets = Secrets()
    old = play(PAIR, number=1, secrets=secrets).exchanges[0].text.split()[0]

    leak = of("client-1", **{where: lambda said: f"{said} {old}".strip()})
    played = play(PAIR, leak, number=2, secrets=secrets)
    assert played.missed()["isolation.foreign"] == (False, "")
    assert ("isolation.own" in played.missed()) == (where == "text")


def test_the_secret_of_the_others_system_prompt_is_found() -> None:
    """The line itself is right; what was added is only in the other's system prompt."""
    told = play(GUARDED).asks[1].chat()[0]
    assert told["role"] == "system"
    secret = next(s for s in play(GUARDED).exchanges[1].secrets if s in told["content"])
    played = play(GUARDED, of("client-1", reasoning=f"They said {secret}."))
    assert played.missed() == {"isolation.foreign": (False, "")}


def test_some_iterations_have_system_secrets_and_some_lines_no_marker() -> None:
    mixed = make("isolation")
    asks = [ask for n in range(60) for ask in play(mixed, number=n).asks]
    guarded = sum(len(ask.chat()) == 2 for ask in asks)
    unmarked = sum("-01" not in ask.chat()[-1]["content"] for ask in asks)
    assert 20 < guarded < 80
    assert 5 < unmarked < 50


def test_overlap_is_counted() -> None:
    assert play(PAIR).result.counts == {"isolation.overlap": 1}
    late = 5 * 10**9
    apart = of("client-2", first_token_ns=late, last_token_ns=late + 1)
    assert play(PAIR, apart).result.counts == {"isolation.overlap": 0}
    unknown = of("client-2", first_token_ns=None, last_token_ns=None)
    assert play(PAIR, unknown).result.counts == {"isolation.overlap": 0}


def test_width_follows_the_clients_and_the_slots() -> None:
    four = make("isolation", clients=4)
    assert four.width == 4
    assert len(play(four, around=dataclasses.replace(AROUND, slots=4)).asks) == 4
    assert len(play(four, around=dataclasses.replace(AROUND, slots=3)).asks) == 3
    assert len(play(four, around=dataclasses.replace(AROUND, slots=1)).asks) == 2


def test_four_clients_swapped_are_told_apart() -> None:
    four = make("isolation", clients=4, without_marker=0, with_secret=0)
    around = dataclasses.replace(AROUND, slots=4)
    lines = [e.text for e in play(four, around=around).exchanges]

    def swap(exchange: Exchange) -> Exchange:
        other = {"client-2": lines[2], "client-3": lines[1]}.get(exchange.role, exchange.text)
        return structs.replace(exchange, text=other)

    own = play(four, swap, around=around).outcomes()["isolation.own"]
    assert own == [(True, ""), (False, "swapped"), (False, "swapped"), (True, "")]
