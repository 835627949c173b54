"""A run's evidence as adjudicators see it. Built from records that somebody else has read; no I/O."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import LINE, R, Table, joined
from soakproof.judge.books import Disagreement, disagreements
from soakproof.judge.soundness import sound_events, sound_readings
from soakproof.records import Check, Event, Exchange, Iteration, KernelEvent, Opened, Record, Sample
from soakproof.samples import Readings, no_readings, of_samples, one_after_the_other

_UNSEALED = "not sealed"  # in the words of `run.verify`
_BEGINS: Mapping[type, str] = {  # the time of a record that puts it in its place among others of its kind
    **dict.fromkeys((Exchange, Opened), "sent_ns"),
    **dict.fromkeys((Check, KernelEvent, Event), "t_ns"),
    Iteration: "started_ns",
}


class ById(Mapping[str, Exchange]):
    """Exchanges by their ids; of two with the same the later one."""

    def __init__(self, table: Table[Exchange]) -> None:
        self._table = table
        self._places = {id: place for place, id in enumerate(table["id"].tolist())}

    def __getitem__(self, id: str) -> Exchange:
        return self._table.records[self._places[id]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True)
class Evidence:
    """Everything a run recorded, by kind, in order of time. Times are nanoseconds on the run clock."""

    run: Mapping[str, Any]  # run.json
    raw: Mapping[str, Any] | None  # raw.json
    records: tuple[Record, ...]  # in the order in which they were written; those of tables are not among them
    tables: tuple[Table[Any], ...] = ()  # what was read from a run: a kind of a node's file each
    readings: tuple[Readings, ...] = ()  # what of the samples is no record: a source of a node each
    nodes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read
    seal_problems: tuple[str, ...] = ()
    recovered: bool = False
    host_lost: bool = False  # recovered after the host had been restarted
    id: str = ""
    repeats: tuple["Evidence", ...] = ()  # of a baseline: the other runs of the same configuration

    def _of(self, kind: type) -> Iterable[Any]:
        return self._sound_events[0] if kind is Event else self._told(kind)

    def _in_time(self, kind: type) -> tuple[Any, ...]:
        return tuple(sorted(self._of(kind), key=attrgetter(_BEGINS[kind])))

    def _told(self, kind: type) -> list[Any]:
        """Records of a kind in the order in which they were written."""
        return [self.records[line] for line in self._lines.get(kind, ())]

    @cached_property
    def _lines(self) -> "Mapping[type, array[int]]":
        """Which line of all that was written each record of a kind was."""
        found: dict[type, array[int]] = defaultdict(partial(array, "q"))
        for line, kind in enumerate(map(type, self.records)):
            found[kind].append(line)
        return found

    def line_numbers(self, kind: type) -> NDArray[np.int64]:
        """The same of each record of a kind as its view here has them, by time. Where it rises, they were
        written in the order of their times.
        """
        if kind in (Exchange, Opened, Check, Iteration):
            return self._table(kind).lines  # type: ignore[type-var]
        times = np.array([getattr(record, _BEGINS[kind]) for record in self._told(kind)], np.int64)
        return np.array(self._lines.get(kind, ()), np.int64)[np.argsort(times, kind="stable")]

    @cached_property
    def _sound_events(self) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        return sound_events(self._told(Event))

    @cached_property
    def readings_told(self) -> tuple[Readings, ...]:
        """All samples as they were told, in the order of their lines: a source of a node each."""
        samples = zip(self._lines.get(Sample, ()), self._told(Sample), strict=True)
        return (*self.readings, *of_samples(samples))

    @cached_property
    def _sound_readings(self) -> tuple[tuple[Readings, ...], tuple[str, ...]]:
        return sound_readings(self.readings_told)

    @property
    def unsound(self) -> tuple[str, ...]:
        """Readings and events with values that they cannot have; the views here are without those."""
        return self._sound_readings[1] + self._sound_events[1]

    @property
    def lines(self) -> int:
        """How many records there are in all."""
        return len(self.records) + sum(map(len, self.tables)) + sum(map(len, self.readings))

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Closed exchanges, by when they were sent."""
        return self.exchange_table.records

    @property
    def opened(self) -> Sequence[Opened]:
        """Requests as they were opened, by when they were sent."""
        return self.opened_table.records

    @cached_property
    def unclosed(self) -> tuple[Opened, ...]:
        """Requests that were sent and of whose end nothing is known."""
        closed = set(self.exchange_table["id"].tolist())
        is_open = [id not in closed for id in self.opened_table["id"].tolist()]
        return tuple(self.opened_table.where(np.array(is_open, bool)).records)

    @property
    def checks(self) -> Sequence[Check]:
        return self.check_table.records

    @property
    def iterations(self) -> Sequence[Iteration]:
        return self.iteration_table.records

    @cached_property
    def kernel(self) -> tuple[KernelEvent, ...]:
        return self._in_time(KernelEvent)

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return self._in_time(Event)

    def _table(self, kind: type[R]) -> Table[R]:
        """Those that were read from a run, and those that were given as records, by their times."""
        if kind not in self._tables:
            parts: list[Table[R]] = [table for table in self.tables if table.kind is kind]
            lines = np.array(self._lines.get(kind, ()), np.int64)
            if len(lines) or not parts:
                parts.append(Table(kind, tuple(self._told(kind)), kept={LINE: lines}))
            self._tables[kind] = joined(parts).in_order(_BEGINS[kind])
        return self._tables[kind]

    @cached_property
    def _tables(self) -> dict[type, Table[Any]]:
        return {}

    @property
    def exchange_table(self) -> Table[Exchange]:
        """The exchanges as columns."""
        return self._table(Exchange)

    @property
    def opened_table(self) -> Table[Opened]:
        """The requests as they were opened, as columns."""
        return self._table(Opened)

    @property
    def check_table(self) -> Table[Check]:
        """The checks as columns."""
        return self._table(Check)

    @property
    def iteration_table(self) -> Table[Iteration]:
        """The iterations as columns."""
        return self._table(Iteration)

    @cached_property
    def by_id(self) -> Mapping[str, Exchange]:
        """Exchanges by their ids, as a check and a finding name them."""
        return ById(self.exchange_table)

    @cached_property
    def samples(self) -> Mapping[str, Readings]:
        """Samples by source, each by when they were due."""
        found: dict[str, list[Readings]] = {}
        for part in self._sound_readings[0]:
            found.setdefault(part.source, []).append(part)
        return {source: one_after_the_other(parts).in_order() for source, parts in found.items()}

    def source(self, name: str) -> Readings:
        """The samples of one source; none of one that there is not."""
        return self.samples.get(name) or no_readings(name)

    def saw(self, source: str) -> bool:
        """Whether a source, or one of those that its name begins, had a value at any time."""
        return any(
            bool(all_of.has_value.any())
            for name, all_of in self.samples.items()
            if name == source or name.startswith(f"{source}:")
        )

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """Where what the run wrote in one place is not what it wrote in another."""
        return tuple(disagreements(self))

    @property
    def plan(self) -> Mapping[str, Any]:
        """The plan as resolved, from run.json."""
        return self.run.get("plan") or {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Kinds of the plan that this run did not ask: by tags, or because it was short."""
        names = self.plan.get("left_out")
        return tuple(map(str, names)) if isinstance(names, (list, tuple)) else ()

    @property
    def target(self) -> Mapping[str, Any]:
        """The target's identity, from run.json."""
        return self.run.get("target") or {}

    @cached_property
    def duration(self) -> float | None:
        """Seconds from the load's start until it was stopped: what was drained after that is none of it. None
        when that is not known.

        A run of an older release does not tell when that was: unless its time was up, it is taken to be when
        its last iteration began.
        """
        start, stop = self.run.get("load_started_ns"), self.run.get("load_stopping_ns")
        if start is None:
            return None
        if stop is None:
            stop = self.run.get("load_ended_ns")
            begun = self.iteration_table["started_ns"]
            if stop is not None and len(begun) and (self.run.get("ended") or {}).get("why") != "time":
                stop = int(begun[-1])
        return None if stop is None else (stop - start) / NS


def last_seen(evidence: Evidence) -> float | None:
    """Seconds of the run at its last record of any kind; None without any."""
    times = [
        *(evidence.exchange_table["done_ns"], evidence.opened_table["sent_ns"]),
        *(evidence.iteration_table["ended_ns"], evidence.check_table["t_ns"]),
        *(part.t_ns for part in evidence.readings_told),
    ]
    last = [int(column.max()) for column in times if len(column)]
    last += [*(k.t_ns for k in evidence.kernel), *(e.t_ns for e in evidence.events)]
    return max(last) / NS if last else None


def never_ended(evidence: Evidence) -> tuple[Opened, ...]:
    """Requests that waited to the end of the run; none where the line of an end may be what was lost."""
    told = ((evidence.raw or {}).get("exchanges") or {}).get("closed")
    is_lost = bool(evidence.problems) or (told is not None and told != len(evidence.exchange_table))
    return () if is_lost else evidence.unclosed


def unsealed(evidence: Evidence) -> tuple[str, ...]:
    """Seals that are missing: whether that part of the evidence was changed cannot be known."""
    return tuple(p for p in evidence.seal_problems if _UNSEALED in p)


def touched(evidence: Evidence) -> tuple[str, ...]:
    """What is not as it was sealed."""
    return tuple(p for p in evidence.seal_problems if _UNSEALED not in p)


def load_span(evidence: Evidence) -> tuple[int, int | None]:
    """When the load began, 0 where that is not known, and when it ended, if that is known."""
    return int(evidence.run.get("load_started_ns") or 0), evidence.run.get("load_ended_ns")
