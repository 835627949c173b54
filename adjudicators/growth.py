"""Growth of the server's memory, open files and threads.

Memory is compared early against late, or, from two hours on, by the leak rule.

What can be said depends on the length. Simulation showed that a trace of half an hour can neither prove nor
exclude a leak, so under two hours growth is described: too much of it that still goes on is inconclusive,
never a failure. A prompt cache that fills to its limit is no leak. Open files and threads are whole numbers
without noise: when they climb with the work to the very end, that is a leak after minutes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from soakproof.judge import (
    Adjudicator,
    Bytes,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Ratio,
    clause,
    counted,
    finding,
)
from soakproof.judge.climb import Climb, climb
from soakproof.judge.identity import given_options
from soakproof.judge.series import (
    Series,
    during_load,
    gtt,
    held,
    in_flight,
    known,
    of_load,
    one_process,
    reading,
    series,
    silence,
    while_idle,
)
from soakproof.judge.telling import length, size
from soakproof.judge.trend import LEAK_FROM_S, early_late, leak
from soakproof.judge.trend import Growth as Grown
from soakproof.records import Party

GIB, MIB = 2**30, 2**20
CHECKPOINTS = 12  # readings at idle that are worth more than all readings together
LLAMA_CACHE = 8192 * MIB  # llama.cpp's own limit of its prompt cache where none is given
OF_A_FRONT = 0.25  # of the least growth that weighs: it has neither a model nor a cache to fill
HANDLES: Mapping[str, str] = {"fds": "open files", "threads": "threads"}
_CLIMBED: Mapping[str, tuple[Outcome, str]] = {
    "climbs": (Outcome.FAIL, "It has ever more {what}, {amount:g} more so far and more to the end: a leak"),
    "unclear": (Outcome.INCONCLUSIVE, "It has a few more {what} from each part of the run to the next"),
    "level": (Outcome.PASS, "The number of its {what} did not climb to the end"),
    "short": (Outcome.INCONCLUSIVE, "Its {what} were read {n} times: too little to tell"),
}


@dataclass(frozen=True)
class Trace:
    """One thing that may grow: what it is, its readings, and how much of its growth a cache explains."""

    name: str
    series: Series
    cache: float | None = None  # bytes that the prompt cache may hold; None: not known
    basis: str = ""  # which readings these are
    missing: str = ""  # why there are none
    lack: str = ""  # in how many readings it was not known, where that is too many


@dataclass(frozen=True)
class Growth(Adjudicator):
    """Did the server's memory, open files and threads stop growing?

    Growth is the last third's median over the first third's: at most ``growth`` of that or ``least``,
    whichever is more, and never above ``most``. A front has no cache to fill: a quarter of ``least`` is
    its. ``leak`` is the growth an hour that two hours or more may not show. ``processes`` are the server's
    by role; GTT in use is looked at as well. ``required``: without readings of memory there is no PASS. By
    ``handles`` open files or threads may climb: healthy servers stay within ten, and a leak of one in a
    hundred requests is beyond it in half an hour of small ones.
    """

    required: bool = False
    growth: Ratio = Ratio(0.25)
    least: Bytes = Bytes(512 * MIB)
    most: Bytes = Bytes(4 * GIB)
    leak: Bytes = Bytes(100 * MIB)
    handles: int = 16
    processes: tuple[str, ...] = ("backend", "front")
    ranges = Ranges(
        growth=(0, 10), least=(0, 2**50), most=(0, 2**50), leak=(0, 2**50), handles=(0, 1_000_000)
    )

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        for trace in (*self._servers(evidence), *_gtt(evidence)):
            yield self._growth(trace)
        for name in self._names(evidence):
            for what in HANDLES:
                yield self._handles(evidence, name, what)

    def _names(self, evidence: Evidence) -> list[str]:
        """The server's processes by role; backends beyond the first have names of their own."""
        return sorted(
            n for n in evidence.samples if n.startswith(tuple(f"process:{p}" for p in self.processes))
        )

    def _servers(self, evidence: Evidence) -> Iterable[Trace]:
        for name in self._names(evidence) or [f"process:{self.processes[0]}"]:
            samples, processes = one_process(evidence.source(name))
            whole = series(samples, held)
            idle = while_idle(evidence, whole)
            use = idle if _spread(idle, whole) else whole
            basis = f"{counted(len(use), 'reading')}{' with all slots free' if use is idle else ''}"
            if processes > 1:
                basis += f", of the longest-lived of {processes} processes"
            cache = _cache_limit(evidence) if "backend" in name else 0.0
            missing = "" if len(use) else _why(evidence, name)
            yield Trace(name, use, cache, basis, missing, known(samples, held).lack)

    def _growth(self, trace: Trace) -> Finding:
        grown = early_late(trace.series.times, trace.series.values, flat=self._least(trace) / 8)
        if grown is None:
            return finding(
                self,
                trace.name,
                Outcome.INCONCLUSIVE,
                f"Too little was read: {trace.missing or counted(len(trace.series), 'reading')}.",
                limit=f"{self.growth:.0%} or {size(self._least(trace))} of growth",
                limit_source="policy",
                critical=self.required,
            )
        long = trace.series.hours * 3600 >= LEAK_FROM_S * 0.99
        outcome, answer, strength = self._leak(trace, grown) if long else self._described(trace, grown)
        if trace.lack and outcome is Outcome.PASS:
            outcome = Outcome.INCONCLUSIVE
        return finding(
            self,
            trace.name,
            outcome,
            answer + trace.lack,
            figures=_figures(grown),
            limit=f"{size(self.leak)} an hour" if long else f"{size(self._allowed(trace, grown))} of growth",
            limit_source="policy",
            span=(trace.series.times[0], trace.series.times[-1]),
            strength=f"{strength}; {trace.basis}" if trace.basis else strength,
            fault=_whose(trace) if outcome is Outcome.FAIL else "",
        )

    def _allowed(self, trace: Trace, grown: Grown) -> float:
        return min(max(self.growth * grown.early, self._least(trace)), self.most)

    def _least(self, trace: Trace) -> float:
        return self.least * OF_A_FRONT if _whose(trace) == "front" else self.least

    def _described(self, trace: Trace, grown: Grown) -> tuple[Outcome, str, str]:
        """Under two hours: too much growth that still goes on, and that no cache explains, is not a PASS."""
        strength = f"{length(trace.series.hours * 3600)} can neither prove nor exclude a leak"
        told = f"The last third lies {size(grown.amount)} over the first ({size(grown.early)})"
        if grown.amount <= self._allowed(trace, grown):
            return Outcome.PASS, f"{told}.", strength
        if not grown.rising:
            return Outcome.PASS, f"{told}, and was level at the end.", strength
        rise = grown.peak - grown.floor
        if trace.cache and rise <= trace.cache + self._least(trace):
            return Outcome.PASS, f"{told}: within the prompt cache's {size(trace.cache)}.", strength
        return Outcome.INCONCLUSIVE, f"{told}, and still grows{_unexplained(trace)}.", strength

    def _leak(self, trace: Trace, grown: Grown) -> tuple[Outcome, str, str]:
        """From two hours on: the leak rule, unless the prompt cache can hold all of the growth."""
        found = leak(trace.series.times, trace.series.values, self.leak)
        slope = found.slope
        told = f"It grows by {size(slope.estimate)} an hour" if slope else "It is not clear how it grows"
        strength = (
            f"Theil-Sen with a 90 % interval of {size(slope.low)} to {size(slope.high)} an hour"
            if slope
            else ""
        )
        if found.answer == "none":
            return (
                Outcome.PASS,
                f"{told}: no leak in {length(found.hours * 3600)}.{_step(found.step, found.step_at)}",
                strength,
            )
        if found.answer != "leak":
            return (
                Outcome.INCONCLUSIVE,
                f"{told}: too little to tell.{_step(found.step, found.step_at)}",
                strength,
            )
        if trace.cache and grown.peak - grown.floor <= trace.cache + self._least(trace):
            answer = f"{told}, which the prompt cache of {size(trace.cache)} can explain: run longer to tell."
            return Outcome.INCONCLUSIVE, answer, strength
        return Outcome.FAIL, f"{told}, to the end: a leak{_unexplained(trace)}.", strength

    def _handles(self, evidence: Evidence, name: str, what: str) -> Finding:
        """Open files or threads of the longest-lived process in a role, while the load ran."""
        samples, processes = one_process(evidence.source(name))
        found = during_load(evidence, series(samples, reading(what)))
        climbed = climb(found.times, found.values, self.handles, in_flight(evidence, found.times))
        outcome, answer = _CLIMBED[climbed.answer]
        seen = known(of_load(evidence, samples), reading(what))
        if outcome is Outcome.PASS and not seen.is_enough:
            outcome = Outcome.INCONCLUSIVE
        lack = seen.lack if len(found) else ""
        told = answer.format(what=HANDLES[what], amount=climbed.amount, n=len(found))
        missing = clause(samples.reason(), 120) if not len(found) else ""
        return finding(
            self,
            f"{name} {what}",
            outcome,
            f"{told}{f': {missing}' if missing else ''}{_for_each(evidence, climbed)}.{lack}",
            figures=tuple(
                Figure(name=f"least {which}", value=value, n=len(found))
                for which, value in zip(("at first", "at last"), _ends(climbed), strict=True)
            ),
            limit=f"fewer than {self.handles} more, or none more at the end",
            limit_source="policy",
            strength=f"the longest-lived of {processes} processes" if processes > 1 else "",
            critical=climbed.answer != "short",
            fault="server" if outcome is Outcome.FAIL else "",
        )


def _whose(trace: Trace) -> Party:
    """Whose memory it is that grew; the GPU's is the backend's."""
    return "front" if trace.name == "process:front" else "backend"


def _ends(climbed: Climb) -> tuple[float | None, float | None]:
    return (climbed.floors[0], climbed.floors[-1]) if climbed.floors else (None, None)


def _for_each(evidence: Evidence, climbed: Climb) -> str:
    """How much of a climb falls to each request that ended meanwhile."""
    if climbed.answer not in ("climbs", "unclear"):
        return ""
    first, last = climbed.middles[0], climbed.middles[-1]
    ended = evidence.exchange_table.seconds("done_ns")
    done = int(((first <= ended) & (ended <= last)).sum())
    return f", {climbed.amount / done:.2g} for each of {counted(done, 'request')}" if done else ""


def _gtt(evidence: Evidence) -> Iterable[Trace]:
    """GTT is in no process's RSS: a leak in it is seen here only."""
    for name, used in gtt(evidence).items():
        if len(used):
            told = evidence.samples[name]
            lack = known(told, reading("gtt_used_bytes")).lack
            yield Trace(name, used, 0.0, counted(len(used), "reading"), lack=lack)


def _spread(idle: Series, whole: Series) -> bool:
    """Whether idle readings are many enough, in the first and in the last third alike."""
    if len(idle) < CHECKPOINTS:
        return False
    third = (whole.times[-1] - whole.times[0]) / 3
    early = sum(t <= whole.times[0] + third for t in idle.times)
    late = sum(t >= whole.times[-1] - third for t in idle.times)
    return min(early, late) >= CHECKPOINTS / 3


def _cache_limit(evidence: Evidence) -> float | None:
    """Bytes that a backend's prompt cache may hold; None when not known or without a limit."""
    command = [str(word) for word in evidence.target.get("launch_command") or ()]
    given = given_options(evidence.run).get("--cache-ram")
    if given is not None:
        mebibytes = int(given) if given.lstrip("-").isdigit() else -1
        return mebibytes * float(MIB) if mebibytes >= 0 else None
    is_llama = bool(command) and PurePath(command[0]).name.startswith("llama-server")
    return float(LLAMA_CACHE) if is_llama else None


def _why(evidence: Evidence, name: str) -> str:
    samples = evidence.source(name)
    untold = "RssAnon or VmSwap is not told" if len(samples) else "the server's processes were not seen"
    return silence(samples) or untold


def _unexplained(trace: Trace) -> str:
    if trace.cache is None:
        return "; the prompt cache's limit is not known"
    return f", more than the prompt cache's {size(trace.cache)} explains" if trace.cache else ""


def _step(step: float | None, at: float | None) -> str:
    return "" if step is None or at is None else f" One step of {size(step)} at {at / 60:.0f} min."


def _figures(grown: Grown) -> tuple[Figure, ...]:
    named = (
        ("first third", grown.early),
        ("last third", grown.late),
        ("least", grown.floor),
        ("most", grown.peak),
    )
    return tuple(
        Figure(name=name, value=round(value / GIB, 3), unit="GiB", n=grown.n) for name, value in named
    )
