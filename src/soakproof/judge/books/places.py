"""Where a value stands among others: what joins the records of one book to those of another. No I/O."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import repeat
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
V = TypeVar("V", bound=Hashable)


def firsts(values: Sequence[V], lines: Places) -> dict[V, int]:
    """Each value's place; of several of the same the one that was written first."""
    places = np.argsort(lines)[::-1].tolist()
    return dict(zip(map(values.__getitem__, places), places, strict=True))


def find(values: Sequence[V], among: Mapping[V, int]) -> Places:
    """The place of each value; -1 where it has none."""
    return np.fromiter(map(among.get, values, repeat(-1)), np.int64, len(values))


def again(values: Sequence[V], lines: Places) -> NDArray[np.bool_]:
    """Which are those of one that was written before."""
    first = firsts(values, lines)
    if len(first) == len(values):
        return np.zeros(len(values), bool)
    return np.asarray(find(values, first) != np.arange(len(values)), bool)
