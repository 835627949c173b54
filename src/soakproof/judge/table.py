"""Records as columns, for adjudicators that ask all of them at once. Pure; no I/O.

exchanges = evidence.exchange_table
slow = exchanges.where(exchanges.metric("first_token_time") > 5)
slow["id"], slow.seconds("sent_ns")
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from types import NoneType
from typing import Any, Generic, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import MOST, amount
from soakproof.clock import NS
from soakproof.errors import did_you_mean
from soakproof.metrics import METRICS
from soakproof.records import Check, Exchange, Iteration

R = TypeVar("R", Exchange, Check, Iteration)
Array = NDArray[Any]
Floats = NDArray[np.float64]
_ENDS: Mapping[type, tuple[str, str]] = {  # the times between which a record lies
    Exchange: ("sent_ns", "done_ns"),
    Check: ("t_ns", "t_ns"),
    Iteration: ("started_ns", "ended_ns"),
}


@dataclass(frozen=True, eq=False)
class Table(Generic[R]):
    """Records of one kind, in order of time. ``table["name"]`` is a field of each:

    - a number that may be unknown: float64, NaN where it is
    - a number that is always told: int64, nanoseconds on the run clock where its name ends in ``_ns``
    - true or false: bool
    - all else: objects as they are; a text that may be unknown is None where it is
    """

    kind: type[R]
    records: tuple[R, ...]
    part_of: "tuple[Table[R], NDArray[np.bool_]] | None" = None  # the table and the mask that it was made by

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, name: str) -> Array:
        """Raises KeyError for a field that there is not, with the one that may be meant."""
        if name not in self.kind.__struct_fields__:
            hint = did_you_mean(name, self.kind.__struct_fields__)
            raise KeyError(f"{self.kind.__name__} has no field {name!r}: {hint}`reference.md` has them all")
        if name not in self._columns:
            self._columns[name] = self._column(name)
        return self._columns[name]

    def seconds(self, name: str) -> Floats:
        """A time in seconds of the run; NaN where it is not known."""
        return np.asarray(self[name], np.float64) / NS

    def metric(self, name: str) -> Floats:
        """What a metric says of each exchange, in the metric's unit; NaN where it cannot be told.

        Raises ValueError for a metric that there is not, and for records that are no exchanges.
        """
        if name not in METRICS or self.kind is not Exchange:
            raise ValueError(
                f"no metric of {self.kind.__name__}s is called {name!r}; there are: {', '.join(METRICS)}"
            )
        of: Callable[[Any], float | None] = METRICS[name].of
        return np.array([np.nan if (v := of(r)) is None else v for r in self.records], np.float64)

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Which exchanges are answers, to their own end: neither cancelled nor refused as planned."""
        failed = np.array([failure is not None for failure in self["failure"].tolist()], bool)
        return np.asarray((self["outcome"] == "ok") & ~failed & np.isnan(self["cancelled_ns"]), bool)

    def timing(self, name: str) -> Floats:
        """A number of the server's own timings of each exchange, such as "predicted_ms"; NaN for whatever
        else stands there, and for one below 0.
        """
        return self._told("timings", name)

    def usage(self, name: str) -> Floats:
        """The same of usage, such as "total_tokens"."""
        return self._told("usage", name)

    def _told(self, field: str, name: str) -> Floats:
        key = f"{field}.{name}"
        if key not in self._columns and self.part_of is not None:
            whole, mask = self.part_of
            self._columns[key] = whole._told(field, name)[mask]
        elif key not in self._columns:
            told = self[field].tolist()
            self._columns[key] = amounts([of.get(name) if of else None for of in told])
        return self._columns[key]

    def where(self, mask: NDArray[np.bool_]) -> "Table[R]":
        """Those of the mask."""
        return Table(self.kind, tuple(compress(self.records, mask.tolist())), (self, mask))

    def between(self, from_s: float, until_s: float) -> "Table[R]":
        """Those that lie, with a part at least, between two seconds of the run."""
        first, last = _ENDS[self.kind]
        return self.where((self.seconds(last) >= from_s) & (self.seconds(first) <= until_s))

    def by(self, name: str) -> "dict[Any, Table[R]]":
        """A table for each value of a field, such as the scenario, in the order in which they come."""
        places: dict[Any, list[int]] = {}
        for place, value in enumerate(self[name].tolist()):
            places.setdefault(value, []).append(place)
        return {value: Table(self.kind, tuple(self.records[n] for n in of)) for value, of in places.items()}

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return {}

    def _column(self, name: str) -> Array:
        if self.part_of is not None:
            whole, mask = self.part_of
            return np.asarray(whole[name][mask])
        values: Sequence[Any] = [getattr(record, name) for record in self.records]
        kinds = _kinds(self.kind)[name]
        if kinds == {bool}:
            return np.array(values, bool)
        if kinds == {int}:
            return np.array(values, np.int64)
        if kinds <= {int, float, NoneType}:
            return np.array([np.nan if value is None else value for value in values], np.float64)
        column = np.empty(len(values), object)
        column[:] = values
        return column


def amounts(values: Sequence[Any]) -> Floats:
    """`soakproof.amounts.amount` of each; NaN where there is none."""
    if set(map(type, values)) <= {float, int, NoneType}:
        with contextlib.suppress(OverflowError):
            found = np.array(values, np.float64)
            found[~((found >= 0) & (found <= MOST))] = np.nan
            return found
    return np.array([np.nan if (n := amount(value)) is None else n for value in values], np.float64)


def _kinds(record: type) -> dict[str, set[Any]]:
    """Of which types the values of each field can be."""
    return {name: set(get_args(hint)) or {hint} for name, hint in get_type_hints(record).items()}
