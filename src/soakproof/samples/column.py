"""One value of a source's readings over time. No I/O.

Numbers are arrays, whatever else there is stays as it came; what a reading did not have is no number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]
ABSENT: Final = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()  # a reading without this value
_ABSENT, _NULL, _THERE = 0, 1, 2
_BLANK = (NoneType, type(ABSENT))


@dataclass(frozen=True, slots=True)
class Column:
    """``of`` has as many items as there are readings; where ``there`` is not 2, an item says nothing."""

    there: NDArray[
        np.uint8
    ]  # 0 where the reading had no such value, 1 where it was null, 2 where it was told
    of: NDArray[np.int64] | NDArray[np.float64] | list[Any]

    def __len__(self) -> int:
        return len(self.there)

    @property
    def is_told(self) -> NDArray[np.bool_]:
        """Which of the readings told a value, and not that there was none."""
        told: NDArray[np.bool_] = self.there == _THERE
        return told

    def at(self, place: int) -> Any:
        """What the reading had, as it was told; ABSENT where it had no such value."""
        if self.there[place] != _THERE:
            return ABSENT if self.there[place] == _ABSENT else None
        return self.of[place] if isinstance(self.of, list) else self.of[place].item()

    def values(self) -> list[Any]:
        """All of it, in order, as it was told."""
        of = self.of if isinstance(self.of, list) else self.of.tolist()
        if (self.there == _THERE).all():
            return of
        blank = (ABSENT, None)
        return [v if t == _THERE else blank[t] for v, t in zip(of, self.there.tolist(), strict=True)]

    def numbers(self) -> NDArray[np.float64]:
        """Finite numbers that are not negative, as `amounts.number` has them; NaN for all else."""
        if isinstance(self.of, list):
            told = [v if type(v) in (int, float) else np.nan for v in self.of]
            found = np.array([float(v) if abs(v) < 1e300 else np.nan for v in told], np.float64)
        else:
            found = self.of.astype(np.float64)
        return np.where((self.there == _THERE) & np.isfinite(found) & (found >= 0), found, np.nan)

    def without(self, mask: NDArray[np.bool_]) -> "Column":
        """The same, told by none of those."""
        return Column(np.where(mask, np.uint8(_ABSENT), self.there), self.of)

    def take(self, places: Places) -> "Column":
        of = [self.of[i] for i in places] if isinstance(self.of, list) else self.of[places]
        return Column(self.there[places], of)


def column(values: Sequence[Any]) -> Column:
    """Whole numbers as int64, others as float64, and anything mixed or else as it is."""
    kinds = set(map(type, values))
    there = np.full(len(values), _THERE, np.uint8)
    if kinds.intersection(_BLANK):
        told = ((_NULL if v is None else _ABSENT if v is ABSENT else _THERE) for v in values)
        there = np.fromiter(told, np.uint8, len(values))
    plain = kinds.difference(_BLANK)
    if plain in ({int}, {float}, set()):
        kept = values if plain == kinds else [0 if isinstance(v, _BLANK) else v for v in values]
        try:
            return Column(there, np.array(kept, np.float64) if plain == {float} else np.array(kept, np.int64))
        except OverflowError:
            pass
    return Column(there, _shared(values))


def columns(tables: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """The values of several readings, name by name."""
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: column([table.get(name, ABSENT) for table in tables]) for name in names}


def joined(parts: Sequence[Column]) -> Column:
    """One after the other."""
    there = np.concatenate([part.there for part in parts])
    kinds = {getattr(part.of, "dtype", None) for part in parts if (part.there == _THERE).any()}
    if len(kinds) > 1 or None in kinds:
        return Column(there, _shared([v for part in parts for v in part.values()]))
    dtype = next(iter(kinds), np.dtype(np.int64))
    return Column(there, np.concatenate([np.asarray(_filled(part), dtype) for part in parts]))


def absent(rows: int) -> Column:
    return Column(np.zeros(rows, np.uint8), np.zeros(rows, np.int64))


def _filled(part: Column) -> NDArray[Any]:
    return np.zeros(len(part)) if isinstance(part.of, list) else part.of


def _shared(values: Iterable[Any]) -> list[Any]:
    """The same values, one object for those that repeat the one before: texts and lists seldom change."""
    kept: list[Any] = []
    last: Any = ABSENT
    for value in values:
        last = last if type(value) is type(last) and value == last else value
        kept.append(last)
    return kept
