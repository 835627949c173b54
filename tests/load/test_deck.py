"""A deck holds the plan's counts exactly, and the first cards cover every kind."""

from collections import Counter
from dataclasses import dataclass

from soakproof.load.deck import Deck
from soakproof.plan import Kind
from soakproof.scenario import Scenario


@dataclass(frozen=True)
class Nothing(Scenario):
    """Asks nothing."""


KINDS = [Kind(name, Nothing(), count) for name, count in {"a": 10, "b": 10, "c": 10, "d": 10, "e": 3}.items()]


def test_every_pass_has_the_exact_counts():
    deck = Deck(KINDS, seed=7)
    for _ in range(3):
        assert Counter(deck.draw().name for _ in range(43)) == {"a": 10, "b": 10, "c": 10, "d": 10, "e": 3}


def test_the_first_cards_are_one_of_each_kind():
    deck = Deck(KINDS, seed=7)
    assert sorted(deck.draw().name for _ in range(5)) == ["a", "b", "c", "d", "e"]


def test_the_seed_decides_the_order():
    def order(seed: int) -> list[str]:
        deck = Deck(KINDS, seed)
        return [deck.draw().name for _ in range(86)]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_a_card_put_back_comes_in_the_next_pass():
    deck = Deck(KINDS, seed=7)
    card = deck.draw()
    deck.put_back(card)
    for _ in range(42):
        deck.draw()
    again = Counter(deck.draw().name for _ in range(44))
    assert again == {"a": 10, "b": 10, "c": 10, "d": 10, "e": 3} | {card.name: card.count + 1}


def test_a_kind_that_is_always_put_back_keeps_no_other_from_its_turn():
    deck = Deck(KINDS, seed=7)
    drawn = Counter()
    for _ in range(200):
        card = deck.draw()
        drawn[card.name] += 1
        if card.name == "a":
            deck.put_back(card)
    assert min(drawn.values()) >= 6
