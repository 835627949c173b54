"""Records of one kind as columns, for whoever asks all of them at once. Pure; no I/O.

exchanges = evidence.exchange_table
slow = exchanges.where(exchanges.metric("first_token_time") > 5)
slow["id"], slow.seconds("sent_ns")
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, NoReturn, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import MOST, amount
from soakproof.clock import NS
from soakproof.columns.facts import FACTS
from soakproof.columns.measured import measured
from soakproof.columns.rows import Places, Rows
from soakproof.errors import did_you_mean
from soakproof.metrics import METRICS
from soakproof.records import Check, Exchange, Iteration, Opened

R = TypeVar("R", Exchange, Opened, Check, Iteration)
Array = NDArray[Any]
Floats = NDArray[np.float64]
LINE = "#line"  # the column of the lines on which records were written, which is no field of theirs
_ENDS: Mapping[type, tuple[str, str]] = {  # the times between which a record lies
    Exchange: ("sent_ns", "done_ns"),
    Opened: ("sent_ns", "sent_ns"),
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
    records: Sequence[R]  # each made anew when it is asked for, where they were read from a run
    part_of: "tuple[Table[R], Places] | None" = None  # the table, and the places in it, that it was made of
    kept: Mapping[str, Array] = field(default_factory=dict)  # columns that are there already

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> NoReturn:
        raise TypeError("a table has columns, by their names; loop over its .records")

    def __getitem__(self, name: str) -> Array:
        """Raises KeyError for a field that there is not, with the one that may be meant."""
        if not isinstance(name, str):
            raise TypeError(f"a table has columns, by their names, and its rows are .records: found {name!r}")
        if name not in self.kind.__struct_fields__ and name != LINE:
            hint = did_you_mean(name, self.kind.__struct_fields__)
            raise KeyError(f"{self.kind.__name__} has no field {name!r}: {hint}`reference.md` has them all")
        return self._once(name, lambda whole: whole[name], lambda: self._column(name))

    def _once(self, key: str, of: "Callable[[Table[R]], Array]", made: Callable[[], Array]) -> Array:
        """A column that is made once: of the table that this is a part of, where it is one."""
        if key not in self._columns:
            if self.part_of is not None:
                whole, places = self.part_of
                self._columns[key] = np.asarray(of(whole)[places])
            else:
                self._columns[key] = made()
        return self._columns[key]

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
        exchanges: Table[Exchange] = self  # type: ignore[assignment]
        return self._once(
            f"metric.{name}", lambda whole: whole.metric(name), lambda: measured(name, exchanges)
        )

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Which exchanges are answers, to their own end: neither cancelled nor refused as planned."""
        is_plain = ~self.is_told("failure") & np.isnan(self["cancelled_ns"])
        return np.asarray((self["outcome"] == "ok") & is_plain, bool)

    def is_told(self, name: str) -> NDArray[np.bool_]:
        """Of which records a field of objects, such as the finish reason, is known."""
        return np.array([value is not None for value in self[name].tolist()], bool)

    @property
    def lines(self) -> Places:
        """Which line of all that a run wrote each was."""
        return self[LINE]

    def timing(self, name: str) -> Floats:
        """A number of the server's own timings of each exchange, such as "predicted_ms"; NaN for whatever
        else stands there, and for one below 0.
        """
        return self._told("timings", name)

    def usage(self, name: str) -> Floats:
        """The same of usage, such as "total_tokens"."""
        return self._told("usage", name)

    def fact(self, name: str) -> Array:
        """What `soakproof.columns.facts` says of each exchange: bool or int64 where all are, else objects."""
        if name not in FACTS:
            raise KeyError(f"no fact {name!r}: {did_you_mean(name, FACTS)}there are: {', '.join(FACTS)}")
        return self._once(f"fact.{name}", lambda whole: whole.fact(name), lambda: self._fact(name))

    def _fact(self, name: str) -> Array:
        of: Callable[[Any], Any] = FACTS[name]
        found = [of(record) for record in self.records]
        return _objects(found) if found else np.zeros(0, bool)

    def _told(self, field: str, name: str) -> Floats:
        def made() -> Floats:
            told = self[field].tolist()
            return amounts([of.get(name) if isinstance(of, dict) else None for of in told])

        return self._once(f"{field}.{name}", lambda whole: whole._told(field, name), made)

    def where(self, mask: NDArray[np.bool_]) -> "Table[R]":
        """Those of the mask. Raises ValueError for a mask of another table: it has another length."""
        if len(mask) != len(self):
            raise ValueError(f"a mask of {len(mask)} for a table of {len(self)}: is it of another table?")
        return self.take(np.flatnonzero(mask))

    def of(self, those: Sequence[bool]) -> "Table[R]":
        """Those that are told to be of it, one by one."""
        return self.where(np.array(those, bool))

    def take(self, places: Places) -> "Table[R]":
        """Those of these places, in their order. Raises ValueError for a mask: that is for `where`."""
        places = np.asarray(places)
        if places.dtype == bool:
            raise ValueError("take wants places; a mask is for where")
        some = self.records
        taken = some.take(places) if isinstance(some, Rows) else tuple(some[n] for n in places.tolist())
        return Table(self.kind, taken, (self, places))

    def in_order(self, name: str) -> "Table[R]":
        """The same by a field's value, those of one value as they stand."""
        order = np.argsort(self[name], kind="stable")
        return self if (order[1:] > order[:-1]).all() else self.take(order)

    def between(self, from_s: float, until_s: float) -> "Table[R]":
        """Those that lie, with a part at least, between two seconds of the run."""
        first, last = _ENDS[self.kind]
        return self.where((self.seconds(last) >= from_s) & (self.seconds(first) <= until_s))

    def by(self, name: str) -> "dict[Any, Table[R]]":
        """A table for each value of a field, such as the scenario, in the order in which they come."""
        places: dict[Any, list[int]] = {}
        for place, value in enumerate(self[name].tolist()):
            places.setdefault(value, []).append(place)
        return {value: self.take(np.array(of, np.int64)) for value, of in places.items()}

    @cached_property
    def _columns(self) -> dict[str, Array]:
        return dict(self.kept)

    def _column(self, name: str) -> Array:
        values: Sequence[Any] = list(map(attrgetter(name), self.records))
        kinds = _kinds(self.kind)[name]
        if kinds == {bool}:
            return np.array(values, bool)
        if kinds == {int}:
            return np.array(values, np.int64)
        if kinds <= {int, float, NoneType}:
            return np.array([np.nan if value is None else value for value in values], np.float64)
        return _objects(values)


def _objects(values: Sequence[Any]) -> Array:
    """A column of objects as they are; of bool or int64 where all are that."""
    kinds = set(map(type, values))
    if kinds in ({bool}, {int}):
        return np.array(values, bool if kinds == {bool} else np.int64)
    column = np.empty(len(values), object)
    column[:] = values
    return column


def joined(tables: "Sequence[Table[R]]") -> "Table[R]":
    """Several tables of one kind as one, in the order in which they are given; at least one."""
    if len(tables) == 1:
        return tables[0]
    names = set(tables[0].kept).intersection(*(table.kept for table in tables))
    rows = [table.records for table in tables]
    stored = [part for part in rows if isinstance(part, Rows)]
    if len(stored) == len(rows):
        records: Sequence[R] = Rows.one_after_the_other(stored)
    else:
        records = tuple(record for part in rows for record in part)
    kept = {name: np.concatenate([table.kept[name] for table in tables]) for name in names}
    return Table(tables[0].kind, records, kept=kept)


def amounts(values: Sequence[Any]) -> Floats:
    """`soakproof.amounts.amount` of each; NaN where there is none."""
    if set(map(type, values)) <= {float, int, NoneType}:
        with contextlib.suppress(OverflowError):
            found = np.array(values, np.float64)
            found[~((found >= 0) & (found <= MOST))] = np.nan
            return found
    return np.array([np.nan if (n := amount(value)) is None else n for value in values], np.float64)


@cache
def _kinds(record: type) -> dict[str, set[Any]]:
    """Of which types the values of each field can be."""
    return {name: set(get_args(hint)) or {hint} for name, hint in get_type_hints(record).items()}
