"""What one source told over time, as columns that read like a sequence of samples. No I/O."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, get_args, overload

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.records import Sample, SourceState
from soakproof.samples.column import ABSENT, Column, Places, absent, columns, joined

STATES: tuple[SourceState, ...] = get_args(SourceState)


@dataclass(frozen=True, eq=False)
class Readings(Sequence[Sample]):
    """One source's samples, by when they were due. Times are nanoseconds on the run clock.

    Each is made anew when it is asked for: who looks at all of them asks for arrays.
    """

    source: str
    node: NDArray[np.object_]
    line: Places  # in its node's file: the order in which those of several sources were written
    due_ns: Places
    t_ns: Places
    took_ns: Places
    state: NDArray[np.uint8]  # a place in STATES
    values: Mapping[str, Column] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)  # by place; "" is left out

    def __len__(self) -> int:
        return len(self.t_ns)

    @overload
    def __getitem__(self, place: int) -> Sample: ...
    @overload
    def __getitem__(self, place: slice) -> "Readings": ...
    def __getitem__(self, place: int | slice) -> "Sample | Readings":
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        place = range(len(self))[place]
        values = {name: v for name, c in self.values.items() if (v := c.at(place)) is not ABSENT}
        return Sample(
            node=self.node[place],
            source=self.source,
            due_ns=int(self.due_ns[place]),
            t_ns=int(self.t_ns[place]),
            took_ns=int(self.took_ns[place]),
            state=STATES[self.state[place]],
            values=values,
            reason=self.reasons.get(place, ""),
        )

    def __iter__(self) -> Iterator[Sample]:
        names = tuple(self.values)
        rows = zip(*(c.values() for c in self.values.values()), strict=True) if names else ((),) * len(self)
        times = zip(self.due_ns.tolist(), self.t_ns.tolist(), self.took_ns.tolist(), strict=True)
        states = [STATES[s] for s in self.state.tolist()]
        for place, (told, (due, t, took)) in enumerate(zip(rows, times, strict=True)):
            yield Sample(
                node=self.node[place],
                source=self.source,
                due_ns=due,
                t_ns=t,
                took_ns=took,
                state=states[place],
                values={n: v for n, v in zip(names, told, strict=True) if v is not ABSENT},
                reason=self.reasons.get(place, ""),
            )

    @property
    def times_s(self) -> NDArray[np.float64]:
        """When each was complete, in seconds of the run."""
        return self.t_ns / NS

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Which of them have a value at all."""
        has: NDArray[np.bool_] = self.state == STATES.index("value")
        return has

    def numbers(self, name: str) -> NDArray[np.float64]:
        """One value of each as a number in the unit of its name; NaN where it is not known."""
        told = self.values[name].numbers() if name in self.values else np.full(len(self), np.nan)
        return np.where(self.has_value, told, np.nan)

    def near(self, times_s: NDArray[np.float64], name: str, within_s: float = 1.5) -> NDArray[np.float64]:
        """A value at other times, such as those of exchanges: that of the nearest reading which has it; NaN
        where none is within so many seconds.
        """
        values = self.numbers(name)
        known = ~np.isnan(values)
        at, of = self.times_s[known], values[known]
        if not len(at):
            return np.full(len(times_s), np.nan)
        after = np.minimum(np.searchsorted(at, times_s), len(at) - 1)
        before = np.maximum(after - 1, 0)
        places = np.where(np.abs(times_s - at[before]) <= np.abs(at[after] - times_s), before, after)
        return np.where(np.abs(at[places] - times_s) <= within_s, of[places], np.nan)

    def told(self, name: str) -> list[Any]:
        """One value of each as it was told; None where it is not known."""
        if name not in self.values:
            return [None] * len(self)
        return [None if v is ABSENT else v for v in self.values[name].values()]

    def of(self, node: str) -> "Readings":
        """Those of one node."""
        return self.take(np.asarray(self.node == node, bool))

    def during(self, from_ns: int, until_ns: int | None) -> "Readings":
        """Those that were complete in a time; None for one without an end."""
        begun = self.t_ns >= from_ns
        return self.take(begun if until_ns is None else begun & (self.t_ns <= until_ns))

    def with_value(self) -> "Readings":
        """Those that have a value."""
        return self if self.has_value.all() else self.take(self.has_value)

    def in_state(self, state: SourceState) -> "Readings":
        """Those of one state."""
        return self.take(self.state == STATES.index(state))

    def without_value(self) -> "Readings":
        """Those that have none."""
        return self.take(~self.has_value)

    def reason(self) -> str:
        """The first that was told of why something has no value."""
        return self.reasons[min(self.reasons)] if self.reasons else ""

    def states(self) -> Counter[str]:
        """How many there are of each state."""
        return Counter({STATES[s]: int(n) for s, n in enumerate(np.bincount(self.state)) if n})

    def take(self, places: NDArray[Any]) -> "Readings":
        """Some of them: by their places, or by a mask."""
        places = np.flatnonzero(places) if places.dtype == bool else places
        told = enumerate(places.tolist()) if self.reasons else ()
        reasons = {n: self.reasons[place] for n, place in told if place in self.reasons}
        return Readings(
            self.source,
            self.node[places],
            self.line[places],
            self.due_ns[places],
            self.t_ns[places],
            self.took_ns[places],
            self.state[places],
            {name: c.take(places) for name, c in self.values.items()},
            reasons,
        )

    def in_order(self) -> "Readings":
        """By when they were due."""
        if (self.due_ns[1:] >= self.due_ns[:-1]).all():
            return self
        return self.take(np.argsort(self.due_ns, kind="stable"))


def of_samples(samples: Iterable[tuple[int, Sample]]) -> tuple[Readings, ...]:
    """Samples with their lines as columns: one for each source of each node."""
    groups: dict[tuple[str, str], tuple[list[Sample], list[int]]] = {}
    for line, sample in samples:
        group = groups.setdefault((sample.node, sample.source), ([], []))
        group[0].append(sample)
        group[1].append(line)
    return tuple(
        of_columns(source, of, np.array(lines, np.int64), columns([s.values for s in of]))
        for (_, source), (of, lines) in groups.items()
    )


def of_columns(source: str, samples: Sequence[Any], lines: Places, values: Mapping[str, Column]) -> Readings:
    """Samples whose values are columns already."""
    reasons: dict[str, str] = {}  # one object for all that are alike
    return Readings(
        source,
        np.array([s.node for s in samples], np.object_),
        lines,
        np.array([s.due_ns for s in samples], np.int64),
        np.array([s.t_ns for s in samples], np.int64),
        np.array([s.took_ns for s in samples], np.int64),
        np.array([STATES.index(s.state) for s in samples], np.uint8),
        values,
        {n: reasons.setdefault(s.reason, s.reason) for n, s in enumerate(samples) if s.reason},
    )


def one_after_the_other(parts: Sequence[Readings]) -> Readings:
    """Several parts of one source as one, in the order in which they are given."""
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in part.values)
    starts = accumulate(map(len, parts), initial=0)
    return Readings(
        source=parts[0].source,
        node=np.concatenate([p.node for p in parts]),
        line=np.concatenate([p.line for p in parts]),
        due_ns=np.concatenate([p.due_ns for p in parts]),
        t_ns=np.concatenate([p.t_ns for p in parts]),
        took_ns=np.concatenate([p.took_ns for p in parts]),
        state=np.concatenate([p.state for p in parts]),
        values={name: joined([p.values.get(name) or absent(len(p)) for p in parts]) for name in names},
        reasons={start + n: why for start, p in zip(starts, parts) for n, why in p.reasons.items()},  # noqa: B905
    )


def no_readings(source: str) -> Readings:
    """A source that was never sampled."""
    return of_columns(source, (), np.array([], np.int64), {})
