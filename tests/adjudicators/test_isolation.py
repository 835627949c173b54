"""Isolation: a secret in another's answer, whoever leaked it and however long ago."""

import pytest
from msgspec.structs import replace

from soakproof.clock import nanoseconds
from soakproof.judge import Outcome
from soakproof.records import Failure
from soakproof.testing.evidence import adjudicate, evidence, exchange, iteration, opened

MINE, YOURS, OLD = "ABCDEFGH", "JKLMNPQR", "STUV-2345"


def pair(**second):
    """Two requests at once, each with a secret of its own, both answered right."""
    first = exchange("a", kind="isolation", role="a", at=10, took=2, secrets=(MINE,), text=f"{MINE}-01")
    values = {"at": 10.1, "took": 2.0, "secrets": (YOURS,), "text": f"{YOURS}-01", **second}
    return [first, exchange("b", kind="isolation", role="b", **values)]


def test_answers_with_their_own_secrets_only_are_silent() -> None:
    found = adjudicate("isolation", evidence(pair(), iteration("isolation", overlap=1)))
    assert found["foreign"].outcome is Outcome.PASS
    assert found["foreign"].answer == "None of 2 secrets stood in another's answer, of 2 searched."
    assert found["overlap"].outcome is Outcome.PASS
    assert [(f.name, f.value) for f in found["overlap"].figures] == [
        ("pairs at once", 1),
        ("isolation.overlap", 1),
    ]


@pytest.mark.parametrize("where", ["text", "reasoning", "tool_calls"])
def test_a_swapped_answer_is_found_wherever_it_stands(where) -> None:
    found = adjudicate("isolation", evidence(pair(**{where: f"so: {MINE}-02."})))["foreign"]
    assert (found.outcome, found.fault, found.exchanges) == (Outcome.FAIL, "server", ("b", "a"))
    assert found.answer == (
        "1 answer carries secrets of other requests; first: b (isolation 1 b) says ABCDEFGH, which "
        "belongs to a (isolation 1 a), running at the same time."
    )


def test_an_old_secret_is_told_with_its_age_two_days_later() -> None:
    old = exchange("old", kind="memory", at=0, took=5, secrets=(OLD,), text="noted")
    late = exchange("new", at=172_805, took=1, text=f"My owner code is {OLD}")
    found = adjudicate("isolation", evidence(old, late))["foreign"]
    assert found.outcome is Outcome.FAIL
    assert "belongs to old (memory 1 ask), ended 172800.0 s before." in found.answer
    assert ("greatest age of a leak", 172_800.0, "s") in [(f.name, f.value, f.unit) for f in found.figures]


def test_a_cancelled_requests_secret_is_known_too() -> None:
    cut = exchange("cut", at=0, took=1, secrets=(OLD,), text="", cancelled_ns=nanoseconds(1.0))
    found = adjudicate("isolation", evidence(cut, exchange("new", at=4, text=OLD)))["foreign"]
    assert found.answer.endswith("belongs to cut (long_prose 1 ask), cancelled 3.0 s before.")


def test_a_request_that_never_closed_is_known_too() -> None:
    lost = opened(exchange("lost", at=0, secrets=(OLD,)))
    found = adjudicate("isolation", evidence(lost, exchange("new", at=4, text=OLD)))["foreign"]
    assert (found.outcome, found.exchanges) == (Outcome.FAIL, ("new", "lost"))
    assert "which never ended" in found.answer


def test_a_secret_that_was_sent_only_later_came_from_an_earlier_run() -> None:
    late = exchange("late", at=50, secrets=(OLD,), text="fine")
    found = adjudicate("isolation", evidence(late, exchange("early", at=4, text=OLD)))["foreign"]
    assert "an earlier run of the same seed" in found.answer


def test_a_secret_of_two_requests_is_no_leak_between_them() -> None:
    asks = [exchange(f"x{i}", at=i, secrets=(MINE,), text=MINE) for i in range(2)]
    assert adjudicate("isolation", evidence(asks))["foreign"].outcome is Outcome.PASS


def test_words_that_look_like_secrets_are_none() -> None:
    found = adjudicate("isolation", evidence(pair(text=f"{YOURS}-01 MAXWELLS FARADAYS")))
    assert found["foreign"].outcome is Outcome.PASS


def test_texts_that_were_not_kept_cannot_be_searched() -> None:
    found = adjudicate("isolation", evidence(pair(text="", token_events=9)))["foreign"]
    assert (found.outcome, found.answer) == (
        Outcome.INCONCLUSIVE,
        "Not searched: the texts of 1 answer were not kept.",
    )


def test_nothing_asked_shows_nothing() -> None:
    found = adjudicate("isolation", evidence())
    assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}


def test_requests_one_after_the_other_show_nothing_of_isolation() -> None:
    found = adjudicate("isolation", evidence(pair(at=12.0)))
    assert found["overlap"].outcome is Outcome.INCONCLUSIVE
    assert "nothing is shown" in found["overlap"].answer
    assert found["foreign"].outcome is Outcome.PASS


def test_iterations_whose_own_pairs_never_overlapped_show_nothing() -> None:
    found = adjudicate("isolation", evidence(pair(), iteration("isolation", overlap=0)))["overlap"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "iterations of isolation counted 0 in 1" in found.answer


def test_every_pair_at_once_is_counted() -> None:
    at_once = [exchange(f"x{i}", at=i * 0.1, took=9) for i in range(4)]
    alone = exchange("alone", at=30, took=1)
    single = exchange("single", at=30.5, took=0.1, first=1.0)  # one token has no length
    figures = adjudicate("isolation", evidence(at_once, alone, single))["overlap"].figures
    assert figures[0].value == 6


def id_of(letter: str) -> str:
    """An id as llama.cpp makes them."""
    return f"chatcmpl-{letter}1epM0DIYOWyvuqP9oGp9iikfCi0QfXT"


def test_a_secret_where_no_client_looks_is_a_leak_that_says_so() -> None:
    found = adjudicate("isolation", evidence(pair(stray_secrets=(MINE, YOURS))))["foreign"]
    assert found.outcome is Outcome.FAIL
    assert "in its headers, in a comment or in a field beside the answer" in found.answer
    own = adjudicate("isolation", evidence(pair(stray_secrets=(YOURS, OLD))))["foreign"]
    assert own.outcome is Outcome.PASS


def test_a_secret_beside_an_answer_in_another_spelling_is_a_leak() -> None:
    old = exchange("old", at=0, took=5, secrets=(OLD,), text="noted")
    stray = (OLD.replace("-", ""),)
    found = adjudicate("isolation", evidence(old, exchange("new", at=9, stray_secrets=stray)))["foreign"]
    assert found.outcome is Outcome.FAIL
    assert f"says {OLD} in its headers" in found.answer
    own = exchange("own", at=9, secrets=(OLD,), stray_secrets=stray)
    assert adjudicate("isolation", evidence(own))["foreign"].outcome is Outcome.PASS


@pytest.mark.parametrize("outcome", ["ok", "fail"])
def test_a_secret_in_a_refusal_is_a_leak(outcome: str) -> None:
    refusal = {"text": "", "status": 400, "failure": Failure.CONTEXT, "outcome": outcome}
    found = adjudicate("isolation", evidence(pair(**refusal, stray_secrets=(MINE,))))["foreign"]
    assert (found.outcome, found.exchanges) == (Outcome.FAIL, ("b", "a"))


def test_a_secret_after_done_is_a_leak_that_says_so() -> None:
    found = adjudicate("isolation", evidence(pair(text_after_done=f"and {MINE}-02")))["foreign"]
    assert (found.outcome, found.exchanges) == (Outcome.FAIL, ("b", "a"))
    assert "says ABCDEFGH after its [DONE], which belongs to a" in found.answer


def test_pieces_of_a_running_answer_in_another_are_told_by_their_ids() -> None:
    first, second = pair(answer_id=id_of("b"), other_ids=(id_of("a"),))
    found = adjudicate("isolation", evidence(replace(first, answer_id=id_of("a")), second))["mixed"]
    assert (found.outcome, found.fault, found.exchanges) == (Outcome.FAIL, "front", ("b", "a"))
    assert found.answer == (
        "1 answer is mixed with those of others, by the ids of their pieces; first: b (isolation 1 b) has "
        "pieces of the answer of a (isolation 1 a), running at the same time."
    )


def test_an_answer_whose_first_piece_is_anothers_is_mixed_too() -> None:
    first, second = pair(answer_id=id_of("a"), other_ids=(id_of("b"),))
    found = adjudicate("isolation", evidence(replace(first, answer_id=id_of("a")), second))["mixed"]
    assert found.exchanges == ("b", "a")


@pytest.mark.parametrize(
    ("mine", "yours", "others"),
    [
        (id_of("a"), id_of("b"), (id_of("c"), id_of("d"))),
        ("chatcmpl-7", "chatcmpl-8", ("chatcmpl-7",)),
        (id_of("a"), None, ()),
    ],
    ids=["an id a piece", "ids that count", "no ids"],
)
def test_ids_that_belong_to_no_other_answer_are_no_mixture(mine, yours, others) -> None:
    first, second = pair(answer_id=yours, other_ids=others)
    found = adjudicate("isolation", evidence(replace(first, answer_id=mine), second))
    assert "mixed" not in found


def test_a_server_that_calls_all_its_answers_alike_mixes_nothing() -> None:
    alike = [exchange(f"x{n}", at=n, answer_id=id_of("a"), other_ids=(id_of("b"),)) for n in range(8)]
    assert "mixed" not in adjudicate("isolation", evidence(alike))


@pytest.mark.parametrize(
    "spelled",
    ["bcdf-4479", "BCDF4479", "BCDF–4479", "B C D F - 4 4 7 9", "thebcdf-4479again", "BCDF\u200b4479"],
)
def test_a_secret_in_another_spelling_is_a_leak(spelled: str) -> None:
    mine = exchange("a", at=0, took=1, secrets=("BCDF-4479",), text="BCDF-4479")
    found = adjudicate("isolation", evidence(mine, exchange("b", at=4, text=f"It is {spelled}, I think.")))
    assert found["foreign"].outcome is Outcome.FAIL
    assert "says BCDF-4479 in another spelling, which belongs to a" in found["foreign"].answer
    own = exchange("b", at=4, text=f"It is {spelled}.", secrets=("BCDF-4479",))
    assert adjudicate("isolation", evidence(mine, own))["foreign"].outcome is Outcome.PASS


def test_half_a_secret_is_none() -> None:
    mine = exchange("a", at=0, took=1, secrets=("BCDF-4479",), text="BCDF-4479")
    found = adjudicate("isolation", evidence(mine, exchange("b", at=4, text="BCDF-447 and 4479")))
    assert found["foreign"].outcome is Outcome.PASS


STORY = "The lighthouse keeper counted the ships that passed in the evening, and wrote each into his book."


def test_anothers_answer_as_reasoning_is_a_leak() -> None:
    story = exchange("story", at=0, took=5, text=f"{STORY} Then he slept.", prompt_digest="s")
    short = [exchange(f"e{n}", at=10.0 + n, text=f"word {n}", prompt_digest=str(n)) for n in range(6)]
    spoiled = replace(short[3], reasoning=STORY)
    found = adjudicate("isolation", evidence(story, *short[:3], spoiled, *short[4:]))["reasoning"]
    assert (found.outcome, found.exchanges) == (Outcome.FAIL, ("e3", "story"))
    thinking = [replace(e, reasoning=STORY) for e in short]
    assert "reasoning" not in adjudicate("isolation", evidence(story, *thinking))  # it reasons as a rule
    own = replace(short[3], reasoning=STORY, text=STORY)
    assert "reasoning" not in adjudicate("isolation", evidence(story, *short[:3], own, *short[4:]))
    assert "reasoning" not in adjudicate("isolation", evidence(story, *short))


def prose(*parts: str) -> str:
    """A text of so many words in a row as each part says, all different by the part's name."""
    return " ".join(
        f"{name}{n}" for name, _, many in (p.partition(" ") for p in parts) for n in range(int(many))
    )


def drawn(id: str, text: str, **more):
    return exchange(
        id, at=float(ord(id[-1])), took=0.5, text=text, **{"temperature": 0.8, "prompt_digest": id, **more}
    )


@pytest.mark.parametrize("before", [0, 7, 19, 20, 33])
@pytest.mark.parametrize("behind", [0, 1, 50])
def test_a_long_row_of_words_of_another_answer_is_doubtful(before: int, behind: int) -> None:
    first = drawn("a", prose(f"p {before}", "shared 40", "q 60"))
    second = drawn("b", prose(f"r {behind}", "shared 40", "s 60"))
    found = adjudicate("isolation", evidence(first, second))["words"]
    assert (found.outcome, found.exchanges) == (Outcome.INCONCLUSIVE, ("b", "a"))
    assert "the longest, 40 words" in found.answer


@pytest.mark.parametrize(
    "healthy",
    [
        {"text": prose("x 30", "shared 39", "y 60")},
        {"temperature": 0.0},
        {"temperature": None},
        {"prompt_digest": "same"},
        {"text": " ".join(["round and round it goes"] * 30)},
    ],
)
def test_words_in_common_for_a_reason_are_none(healthy) -> None:
    text = prose("p 11", "shared 40", "q 60")
    if "and" in healthy.get("text", ""):
        text = healthy["text"]
    first = drawn("a", text, prompt_digest="same")
    second = drawn("b", **{"text": prose("x 30", "shared 40"), "prompt_digest": "other", **healthy})
    assert "words" not in adjudicate("isolation", evidence(first, second))
