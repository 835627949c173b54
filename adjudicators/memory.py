"""Memory of the host and its GPUs: floors, ceilings and swap. Growth is judged by growth.py."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from soakproof.judge import (
    Adjudicator,
    Bytes,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Readings,
    counted,
    finding,
    no_readings,
)
from soakproof.judge.series import (
    Known,
    Series,
    during_load,
    gtt,
    gtt_left,
    known,
    left_of_gtt,
    of_load,
    reading,
    series,
    silence,
    vram,
)
from soakproof.judge.telling import size
from soakproof.judge.watched import KNOWN_SHARE

GIB = 2**30


@dataclass(frozen=True)
class Memory(Adjudicator):
    """Did the host's and the GPU's memory stay within the policy's bounds?

    ``floor`` is of the host's available memory, ``gtt_ceiling`` of a GPU's GTT, ``vram_ceiling`` of its own
    memory, ``headroom`` of the least that host and GTT had left, ``swap_growth`` of the swap in use over its
    start; a bound of 0 reports without a limit. A bound is kept only where the value was known in 95 % of the
    readings during the load. ``required``: what could not be read makes the run inconclusive.
    """

    required: bool = False
    floor: Bytes = Bytes(0)
    gtt_ceiling: Bytes = Bytes(0)
    vram_ceiling: Bytes = Bytes(0)
    headroom: Bytes = Bytes(0)
    swap_growth: Bytes = Bytes(GIB)
    ranges = Ranges(
        floor=(0, 2**50),
        gtt_ceiling=(0, 2**50),
        vram_ceiling=(0, 2**50),
        headroom=(0, 2**50),
        swap_growth=(0, 2**50),
    )

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._available(evidence, baseline)
        yield self._swap(evidence)
        yield from self._groups(evidence)
        yield from self._headroom(evidence)
        yield from self._pools(evidence, "gtt", gtt(evidence), self.gtt_ceiling)
        yield from self._pools(evidence, "vram", vram(evidence), self.vram_ceiling)

    def _available(self, evidence: Evidence, baseline: Evidence | None) -> Finding:
        samples = evidence.source("memory")
        read = series(samples, reading("available_bytes"))
        if not len(read):
            return self._unread("available", samples, _least_of(self.floor))
        least = min(read.values)
        at = read.times[read.values.index(least)]
        shaped = _shaped(evidence)
        seen = known(of_load(evidence, samples), reading("available_bytes"))
        if shaped:
            outcome, answer = Outcome.INCONCLUSIVE, shaped
        else:
            outcome = _judged(least < self.floor, seen)
            answer = f"Never under {size(least)} available, at {at:.0f} s.{seen.lack}"
        return finding(
            self,
            "available",
            outcome,
            answer,
            figures=(_figure("least available", least, len(read), _least(baseline)),),
            limit=_least_of(self.floor) or (_WITHIN if shaped else "") or _all_of(seen),
            limit_source="policy" if self.floor else "",
            span=(at, at),
            critical=bool(self.floor) or self.required,
            fault="host" if outcome is Outcome.FAIL else "",
        )

    def _swap(self, evidence: Evidence) -> Finding:
        samples = evidence.source("memory")
        used = series(samples, reading("swap_used_bytes"))
        if not len(used):
            return self._unread("swap", samples, f"at most {size(self.swap_growth)}")
        grown = max(used.values) - used.values[0]
        seen = known(of_load(evidence, samples), reading("swap_used_bytes"))
        return finding(
            self,
            "swap",
            _judged(grown > self.swap_growth, seen),
            f"Swap in use grew by at most {size(grown)}, from {size(used.values[0])}.{seen.lack}",
            figures=(_figure("swap growth", grown, len(used)),),
            limit=f"at most {size(self.swap_growth)}",
            limit_source="policy",
            fault="host" if grown > self.swap_growth else "",
        )

    def _groups(self, evidence: Evidence) -> Iterable[Finding]:
        """Kills for memory inside control groups: a limit of theirs kills while the host has plenty.

        A group that the tester is in, such as a terminal's, holds other programs, of which one may be meant.
        """
        shared = set(evidence.source("cgroup:tester").told("path"))
        for name in sorted(n for n in evidence.samples if n.startswith("cgroup:")):
            samples = _one_group(evidence.samples[name])
            kills = during_load(evidence, series(samples, reading("oom_kills")))
            if len(kills) < 2:
                continue
            more = kills.values[-1] - kills.values[0]
            limit = min(series(samples, reading("memory_max_bytes")).values, default=None)
            within = f" within its limit of {size(limit)}" if limit else ""
            worst = Outcome.INCONCLUSIVE if samples.told("path")[0] in shared else Outcome.FAIL
            seen = known(of_load(evidence, samples), reading("oom_kills"))
            yield finding(
                self,
                name,
                worst if more > 0 else _judged(False, seen),
                f"{counted(int(more), 'process', 'processes')} of this control group "
                f"{'was' if more == 1 else 'were'} killed for memory{within}.{seen.lack}",
                limit="none",
                limit_source="policy",
                span=(kills.times[0], kills.times[-1]),
                fault="host" if more > 0 else "",
            )

    def _headroom(self, evidence: Evidence) -> Iterable[Finding]:
        """What was left for the server: of the host's memory and of each GPU's pool, whichever had less.

        What a pool may still take is a cap, which does not shrink when other programs take the host's memory.
        """
        memory = evidence.source("memory")
        host = series(memory, reading("available_bytes"))
        pools = {name: min(left.values) for name, left in gtt_left(evidence).items() if len(left)}
        if not pools or not len(host):
            return
        available = min(host.values)
        least = min(available, *pools.values())
        shaped = _shaped(evidence)
        told = ", ".join(f"{size(left)} of the GTT of {name}" for name, left in pools.items())
        looks = [known(of_load(evidence, memory), reading("available_bytes"))]
        looks += [known(of_load(evidence, evidence.samples[name]), left_of_gtt) for name in pools]
        seen = min(looks, key=lambda look: look.n / look.of if look.of else 1.0)
        outcome = _judged(least < self.headroom, seen)
        yield finding(
            self,
            "headroom",
            Outcome.INCONCLUSIVE if shaped else outcome,
            shaped
            or f"At the least {size(least)} were left: {size(available)} of the host, {told}.{seen.lack}",
            figures=(
                _figure("least left", least, len(host)),
                _figure("of the host", available, len(host)),
                *(_figure(f"of {name}", left, len(host)) for name, left in pools.items()),
            ),
            limit=_least_of(self.headroom) or (_WITHIN if shaped else "") or _all_of(seen),
            limit_source="policy" if self.headroom else "",
            critical=bool(self.headroom),
            fault="host" if not shaped and outcome is Outcome.FAIL else "",
        )

    def _pools(
        self, evidence: Evidence, pool: str, cards: Mapping[str, Series], ceiling: float
    ) -> Iterable[Finding]:
        """The most that was in use of one kind of GPU memory, on each card that tells it."""
        told = {name: used for name, used in cards.items() if len(used)}
        for name, used in told.items():
            looks = of_load(evidence, evidence.samples[name])
            yield self._most(pool, name, used, ceiling, known(looks, reading(f"{pool}_used_bytes")))
        for name in sorted(cards.keys() - told.keys()) if pool == "gtt" or ceiling else ():
            yield self._unread(f"{pool}: {name}", evidence.samples[name], _most_of(ceiling), bool(ceiling))
        if ceiling and not cards:
            gpu = next((evidence.source(s) for s in ("amdgpu", "nvidia") if s in evidence.samples), _NONE)
            yield self._unread(pool, gpu, _most_of(ceiling), True)

    def _most(self, pool: str, name: str, used: Series, ceiling: float, seen: Known) -> Finding:
        most = max(used.values)
        at = used.times[used.values.index(most)]
        over = bool(ceiling) and most > ceiling
        return finding(
            self,
            f"{pool}: {name}",
            _judged(over, seen),
            f"Never over {size(most)} of {pool.upper()}, at {at:.0f} s.{seen.lack}",
            figures=(_figure(f"most {pool.upper()}", most, len(used)),),
            limit=_most_of(ceiling) or _all_of(seen),
            limit_source="policy" if ceiling else "",
            span=(at, at),
            critical=bool(ceiling),
            fault="host" if over else "",
        )

    def _unread(self, subject: str, samples: Readings, limit: str, limited: bool = False) -> Finding:
        """``limit``: what could not be judged; ``limited``: whether that decides, required or not."""
        return finding(
            self,
            subject,
            Outcome.INCONCLUSIVE,
            f"It could not be read ({silence(samples) or 'no sample'}).",
            limit=limit or "readings",
            limit_source="policy" if limit or self.required else "",
            critical=self.required or limited,
        )


_WITHIN = "no more than the host has"
_NONE = no_readings("")


def _judged(is_broken: bool, seen: Known) -> Outcome:
    """A bound that was seen broken is, whatever was not seen; one is kept only where the value was known."""
    if is_broken:
        return Outcome.FAIL
    return Outcome.PASS if seen.is_enough else Outcome.INCONCLUSIVE


def _all_of(seen: Known) -> str:
    """What is asked for where nothing is bounded; empty where it is there."""
    return "" if seen.is_enough else f"known in {KNOWN_SHARE:.0%} of the readings"


def _least_of(floor: float) -> str:
    """A floor in words; empty for none."""
    return f"at least {size(floor)}" if floor else ""


def _most_of(ceiling: float) -> str:
    """A ceiling in words; empty for none."""
    return f"at most {size(ceiling)}" if ceiling else ""


def _one_group(told: Readings) -> Readings:
    """Those of the group that the process was in first: each has a count of its own."""
    paths = told.told("path")
    first = next(filter(None, paths), None)
    return told.take(np.array([first is not None and path == first for path in paths], bool))


def _shaped(evidence: Evidence) -> str:
    """Why the host's available memory cannot be what it says; empty when it can.

    GTT is part of the host's memory: what is in use there and what is available cannot exceed the total.
    Inside a container meminfo may be the container's while the GPU's counters are the host's.
    """
    total = max(series(evidence.source("memory"), reading("total_bytes")).values, default=None)
    available = series(evidence.source("memory"), reading("available_bytes"))
    for used in gtt(evidence).values():
        if total and len(used) and min(used.values) + min(available.values) > total * 1.02:
            return (
                f"{size(min(available.values))} available and {size(min(used.values))} of GTT in use are "
                f"more than the total of {size(total)}: meminfo is a container's, not the host's."
            )
    return ""


def _least(baseline: Evidence | None) -> float | None:
    samples = baseline.source("memory") if baseline else _NONE
    return min(series(samples, reading("available_bytes")).values, default=None)


def _figure(name: str, value: float, n: int, baseline: float | None = None) -> Figure:
    return Figure(
        name=name,
        value=round(value / GIB, 3),
        unit="GiB",
        n=n,
        baseline=None if baseline is None else round(baseline / GIB, 3),
    )
