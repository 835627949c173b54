"""The mix as a deck of cards: every pass through it has exactly the plan's counts, shuffled by the seed."""

import random
from collections.abc import Sequence

from soakproof.plan import Kind


class Deck:
    """Draws kinds. The first of each kind come early, so that a short run covers every kind."""

    def __init__(self, kinds: Sequence[Kind], seed: int) -> None:
        self._kinds = tuple(kinds)
        self._random = random.Random(f"{seed}/deck")
        self._cards: list[Kind] = []
        self._later: list[Kind] = []
        self._first = True

    def draw(self) -> Kind:
        if not self._cards:
            self._cards = self._shuffled()
        return self._cards.pop()

    def put_back(self, kind: Kind) -> None:
        """A card that was not played, because the target was down, is drawn again in the next pass.

        Not at once: a kind that always fails would then keep all others from their turn.
        """
        self._later.append(kind)

    def _shuffled(self) -> list[Kind]:
        cards = [kind for kind in self._kinds for _ in range(kind.count)] + self._later
        self._later = []
        self._random.shuffle(cards)
        if self._first:  # drawn from the end: one of each kind comes first, in the plan's order
            self._first = False
            for kind in reversed(self._kinds):
                cards.remove(kind)
                cards.append(kind)
        return cards
