"""A run's evidence as adjudicators see it. Built from records that somebody else has read; no I/O."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from soakproof.clock import NS
from soakproof.judge.books import Disagreement, disagreements
from soakproof.judge.soundness import sound_readings, sound_records
from soakproof.judge.table import Table
from soakproof.records import Check, Event, Exchange, Iteration, KernelEvent, Opened, Record, Sample
from soakproof.samples import Readings, no_readings, of_samples, one_after_the_other

_UNSEALED = "not sealed"  # in the words of `run.verify`


@dataclass(frozen=True)
class Evidence:
    """Everything a run recorded, by kind, in order of time. Times are nanoseconds on the run clock."""

    run: Mapping[str, Any]  # run.json
    raw: Mapping[str, Any] | None  # raw.json
    records: tuple[Record, ...]  # in the order in which they were written
    readings: tuple[Readings, ...] = ()  # what of the samples is no record: a source of a node each
    nodes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()  # lines that could not be read
    seal_problems: tuple[str, ...] = ()
    recovered: bool = False
    host_lost: bool = False  # recovered after the host had been restarted
    id: str = ""
    repeats: tuple["Evidence", ...] = ()  # of a baseline: the other runs of the same configuration

    def _of(self, kind: type) -> Iterable[Any]:
        return self._by_kind.get(kind, ())

    @cached_property
    def _by_kind(self) -> Mapping[type, list[Record]]:
        found: dict[type, list[Record]] = defaultdict(list)
        for record in self._sound_events[0]:
            found[type(record)].append(record)
        return found

    @cached_property
    def _sound_events(self) -> tuple[tuple[Record, ...], tuple[str, ...]]:
        return sound_records(self.records)

    @cached_property
    def readings_told(self) -> tuple[Readings, ...]:
        """All samples as they were told, in the order of their lines: a source of a node each."""
        samples = ((n, r) for n, r in enumerate(self.records) if isinstance(r, Sample))
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
        return len(self.records) + sum(map(len, self.readings))

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Closed exchanges, by when they were sent."""
        return tuple(sorted(self._of(Exchange), key=attrgetter("sent_ns")))

    @cached_property
    def opened(self) -> tuple[Opened, ...]:
        return tuple(sorted(self._of(Opened), key=attrgetter("sent_ns")))

    @cached_property
    def unclosed(self) -> tuple[Opened, ...]:
        """Requests that were sent and of whose end nothing is known."""
        closed = {e.id for e in self.exchanges}
        return tuple(o for o in self.opened if o.id not in closed)

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        return tuple(sorted(self._of(Check), key=attrgetter("t_ns")))

    @cached_property
    def iterations(self) -> tuple[Iteration, ...]:
        return tuple(sorted(self._of(Iteration), key=attrgetter("started_ns")))

    @cached_property
    def kernel(self) -> tuple[KernelEvent, ...]:
        return tuple(sorted(self._of(KernelEvent), key=lambda k: k.t_ns))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        return tuple(sorted(self._of(Event), key=lambda e: e.t_ns))

    @cached_property
    def exchange_table(self) -> Table[Exchange]:
        """The exchanges as columns."""
        return Table(Exchange, self.exchanges)

    @cached_property
    def check_table(self) -> Table[Check]:
        """The checks as columns."""
        return Table(Check, self.checks)

    @cached_property
    def iteration_table(self) -> Table[Iteration]:
        """The iterations as columns."""
        return Table(Iteration, self.iterations)

    @cached_property
    def by_id(self) -> Mapping[str, Exchange]:
        """Exchanges by their ids, as a check and a finding name them."""
        return {exchange.id: exchange for exchange in self.exchanges}

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
            begun = [i.started_ns for i in self.iterations]
            if stop is not None and begun and (self.run.get("ended") or {}).get("why") != "time":
                stop = max(begun)
        return None if stop is None else (stop - start) / NS


def last_seen(evidence: Evidence) -> float | None:
    """Seconds of the run at its last record of any kind; None without any."""
    names = ("t_ns", "done_ns", "ended_ns", "sent_ns")
    times = [next(t for n in names if (t := getattr(r, n, None)) is not None) for r in evidence.records]
    times += [int(part.t_ns.max()) for part in evidence.readings]
    return max(times) / NS if times else None


def never_ended(evidence: Evidence) -> tuple[Opened, ...]:
    """Requests that waited to the end of the run; none where the line of an end may be what was lost."""
    told = ((evidence.raw or {}).get("exchanges") or {}).get("closed")
    is_lost = bool(evidence.problems) or (told is not None and told != len(evidence.exchanges))
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
