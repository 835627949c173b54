"""Waits for a first token that nothing explains: a request was put off although it had nothing to queue for.

Reckoned from the run's own requests: of a wait only a stretch counts throughout which fewer of the others
were at work than the server has slots. What explains a wait is the server's own work on the request, its
neighbours' prompts (llama.cpp begins a request between two batches, and fills each batch from one slot if it
can), the tester's lag, and what the slots show of somebody else's work. No I/O.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge.evidence import Evidence, load_span, never_ended
from soakproof.judge.lag import Lags
from soakproof.judge.occupancy import Ints, Spans, longest_free_ns, spans
from soakproof.judge.slotwork import seeds_of
from soakproof.judge.statistics import Floats
from soakproof.judge.waiting import Looks
from soakproof.records import Exchange, Sample

ASLEEP_S = 60.0  # without a request: a server may have put its model to rest
_AT_ONCE = 8192  # requests that are set beside their neighbours at a time
RELOAD_S = 15.0  # around a reading at which one of the server's processes had gone or was another


@dataclass(frozen=True, eq=False)
class Waited:
    """Requests, each with the seconds of its wait that nothing explains, as far as that can be known; not
    below 0.
    """

    exchanges: Table[Exchange]
    seconds: Floats

    def __len__(self) -> int:
        return len(self.seconds)

    def beyond(self, limit: float) -> "Waited":
        """Those with more such seconds."""
        far = self.seconds > limit
        return Waited(self.exchanges.where(far), self.seconds[far])

    @property
    def longest(self) -> tuple[Exchange, float]:
        """The one with the most such seconds; there must be any."""
        place = int(np.argmax(self.seconds))
        return self.exchanges.where(np.arange(len(self)) == place).records[0], float(self.seconds[place])


@dataclass(frozen=True)
class Unexplained:
    """The waits of a run."""

    evidence: Evidence

    @cached_property
    def waits(self) -> Waited:
        """Of every request that can be judged, in order of sending."""
        table = self.evidence.exchange_table
        seconds = np.full(len(table), np.nan)
        # What is not known to have ended may have been in anybody's way.
        if not self.evidence.unclosed or never_ended(self.evidence):
            places = np.flatnonzero(self._can_be_judged())
            for at in range(0, len(places), _AT_ONCE):
                those = places[at : at + _AT_ONCE]
                seconds[self._spans.row[those]] = self._of(those)
        judged = ~np.isnan(seconds)
        return Waited(table.where(judged), seconds[judged])

    def _can_be_judged(self) -> NDArray[np.bool_]:
        """Whole streams whose times the server tells, of a model that was awake and had been asked before."""
        all_of, table = self._spans, self.evidence.exchange_table
        told = table.whole & table["stream"] & ~np.isnan(table["first_token_ns"])
        told &= ~np.isnan(table.timing("prompt_ms") + table.timing("predicted_ms"))
        judged = np.append(told, False)[all_of.row]  # the last is for what never ended
        began = load_span(self.evidence)[0]
        until = np.maximum.accumulate(np.concatenate([[-1], all_of.end_ns]))[:-1]  # the others' work before
        asleep = (until <= all_of.start_ns) & (all_of.start_ns - np.maximum(until, began) > ASLEEP_S * NS)
        switched = np.diff(all_of.model, prepend=all_of.model[:1]) != 0
        return np.asarray(judged & ~asleep & ~switched, bool)

    def _of(self, places: Ints) -> Floats:
        """The waits of some requests that follow each other; NaN of those that cannot be judged after all."""
        all_of = self._spans
        of, beside = _pairs(all_of, places)
        start, first = all_of.start_ns[places], all_of.first_ns[places]
        other_model = all_of.model[beside] != all_of.model[places[of]]
        excused = np.bincount(of, other_model, len(places)) > 0
        blocks = all_of.blocks_ns(beside, start[of], first[of])
        neighbours = _sum_of_largest(of, blocks, self._slots, len(places))
        edges = np.searchsorted(of, np.arange(len(places) + 1))
        until_first = (first - start) / NS
        free, seen = until_first.copy(), until_first.copy()
        for n in np.flatnonzero((np.diff(edges) >= self._slots) & ~excused):
            others = beside[edges[n] : edges[n + 1]]
            times = zip(all_of.start_ns[others].tolist(), all_of.end_ns[others].tolist(), strict=True)
            free[n] = longest_free_ns(times, self._slots, int(start[n]), int(first[n])) / NS
        excused |= (free == 0) | self._reloaded(start, first)
        for n in np.flatnonzero(self._slots_seen.are_between(start, first) & ~excused):
            looks = self._slots_seen.between(int(start[n]), int(first[n]))
            seed, others = int(all_of.seed[places[n]]), beside[edges[n] : edges[n + 1]]
            known = {seed, *all_of.seed[others].tolist()}
            excused[n] = any(_shows_others(look, known, len(others)) for look in looks)
            at = next((look.t_ns for look in looks if seed in seeds_of(look)), int(first[n]))
            seen[n] = (at - int(start[n])) / NS  # until a slot was seen at work for it
        prompt, lag = all_of.prompt_ms[places] / 1000, self._lags.of_each(all_of.node[places], start, first)
        # What is generated unseen, such as hidden reasoning, lies between the prompt and the first token.
        in_all = (all_of.done_ns[places] - start) / NS - prompt - all_of.predicted_ms[places] / 1000
        most = np.minimum(np.minimum(free - prompt, in_all), seen)
        # A batch that was at work, and what another slot had before this one had its turn.
        waited = np.maximum(most - neighbours / NS - lag, 0)
        return np.where(excused, np.nan, waited)

    def _reloaded(self, start: Ints, first: Ints) -> NDArray[np.bool_]:
        """Whether one of the server's processes ended about then."""
        ends, around = np.array(self._reloads, np.float64), RELOAD_S * NS
        begin, end = np.searchsorted(ends, start - around), np.searchsorted(ends, first + around, "right")
        return np.asarray(end > begin, bool)

    @property
    def _slots(self) -> int:
        told = self.evidence.target.get("slots")
        return told if isinstance(told, int) else 1

    @cached_property
    def _spans(self) -> Spans:
        return spans(self.evidence)

    @cached_property
    def _lags(self) -> Lags:
        return Lags(self.evidence)

    @cached_property
    def _slots_seen(self) -> Looks:
        return Looks(self.evidence.source("slots").with_value())

    @cached_property
    def _reloads(self) -> list[int]:
        return [e.t_ns for e in self.evidence.events if e.what in ("restart", "vanished")]


def _pairs(all_of: Spans, places: Ints) -> tuple[Ints, Ints]:
    """Each of some requests that follow each other, by its number among them, with the place of each other
    request that was at work, or was sent, while it waited.
    """
    before = np.arange(places[-1] + 1)
    before = before[all_of.end_ns[before] > all_of.start_ns[places[0]]]
    begin = np.searchsorted(places, before, "right")
    end = np.searchsorted(all_of.start_ns[places], all_of.end_ns[before])
    after_end = np.searchsorted(all_of.start_ns, all_of.first_ns[places])
    earlier, of = _ranges(begin, end)
    later, behind = _ranges(places + 1, after_end)
    number, beside = np.concatenate([of, later]), np.concatenate([before[earlier], behind])
    order = np.lexsort((beside, number))
    return number[order], beside[order]


def _ranges(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Of each range the number of the range, and what is in it, one after the other."""
    sizes = np.maximum(end - begin, 0)
    number = np.repeat(np.arange(len(sizes)), sizes)
    return number, np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes - begin, sizes)


def _sum_of_largest(of: Ints, values: Ints, most: int, groups: int) -> Floats:
    """The sum of the ``most`` largest values of each group."""
    order = np.lexsort((-values, of))
    of, values = of[order], values[order]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    return np.asarray(np.bincount(of[rank < most], values[rank < most], groups), np.float64)


def _shows_others(look: Sample, known: set[int], beside: int) -> bool:
    """Whether a slot worked for somebody else; without a seed, whether more did than there were requests."""
    seeds = seeds_of(look)
    told = [seed for seed in seeds if seed is not None]
    return any(seed not in known for seed in told) or len(seeds) > max(beside, len(told))
