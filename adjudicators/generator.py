"""The tester's own health: a saturated tester can neither pass nor fail a server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Ratio,
    Readings,
    Seconds,
    Table,
    counted,
    finding,
    ids,
    plain,
    upper,
)
from soakproof.judge.lag import Lag, lags_s
from soakproof.judge.series import known, reading, series
from soakproof.records import Exchange

MEASURED = {"CPU": "cpu_percent", "event-loop lag": "loop_lag_max_ms"}
TOUCHED = 0.1  # of an exchange's time: lags that add up to less do not change what is read from it


@dataclass(frozen=True, slots=True)
class Bound:
    """What was measured of the tester, and the most that it may be; ``counts``: beyond it a run is void."""

    name: str
    value: float | None
    most: float
    unit: str
    counts: bool = True

    @property
    def is_broken(self) -> bool:
        return self.counts and self.value is not None and self.value > self.most


@dataclass(frozen=True)
class Generator(Adjudicator):
    """Was the tester itself the bottleneck?

    ``cpu`` is a share of one core, which is all that one load process can use; it is compared with the 90th
    percentile of the samples. A second is late when its greatest event-loop lag is above ``lag``, and an
    exchange is touched when such lags while it was in flight add up to more than a tenth of its time: what
    was timed then is less sure, and the rest is not. So a run is void by how much of it that was: more than
    ``late`` of its seconds, ``touched`` of its exchanges, or ``slipped`` of its requests sent more than
    ``slip`` after they were due. One such moment alone voids none, as it says nothing of the rest, unless the
    tester was deaf for longer than ``lag_max``: the bounds of a stream come near then.
    """

    cpu: Ratio = Ratio(0.85)
    lag: Seconds = Seconds(0.5)
    lag_max: Seconds = Seconds(5)
    late: Ratio = Ratio(0.05)
    touched: Ratio = Ratio(0.1)
    slip: Seconds = Seconds(1)
    slipped: Ratio = Ratio(0.05)
    ranges = Ranges(
        cpu=(0, 1),
        lag=(0, 3600),
        lag_max=(0, 3600),
        late=(0, 1),
        touched=(0, 1),
        slip=(0, 3600),
        slipped=(0, 1),
    )

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        tester = evidence.source("tester")
        if not len(tester):
            answer, limit = "The tester left no samples of itself.", "a sample each second"
            yield finding(self, "load", Outcome.INCONCLUSIVE, answer, limit=limit)
        for node in dict.fromkeys(tester.node):
            yield self._node(evidence, str(node), tester.of(node))
        yield self._slip(evidence)
        yield from self._faults(evidence)

    def _node(self, evidence: Evidence, node: str, samples: Readings) -> Finding:
        late = samples.take(lags_s(samples) > self.lag)
        sent = evidence.exchange_table.where(evidence.exchange_table["node"] == node)
        lag = Lag(late).of_each(sent["sent_ns"], sent["done_ns"])
        touched = sent.where(lag > TOUCHED * (sent["done_ns"] - sent["sent_ns"]) / NS)["id"]
        bounds = self._bounds(samples, len(late), _percent(len(touched), len(sent)))
        over = [f"{b.name} is {b.value:.4g} {b.unit}" for b in bounds if b.is_broken]
        missing = [told for what, name in MEASURED.items() if (told := _unknown(samples, what, name))]
        if over:
            answer = f"The tester itself was too slow, so nothing it timed is sure: {', '.join(over)}."
        elif missing:
            answer = f"Not known: {', '.join(missing)}."
        else:
            answer = _kept_up(late, len(touched))
        return finding(
            self,
            node,
            Outcome.INCONCLUSIVE if over or missing else Outcome.PASS,
            answer,
            figures=(
                *(
                    Figure(name=b.name.removeprefix("the "), value=b.value, unit=b.unit, n=len(samples))
                    for b in bounds[:3]
                ),
                Figure(name="exchanges touched", value=len(touched), n=len(sent)),
                _most("most in flight", _values(samples, "in_flight")),
                _most("most waiting for a permit", _values(samples, "permits_waiting")),
            ),
            limit=f"a lag of {self.lag * 1000:g} ms; "
            + ", ".join(f"{b.name} at most {b.most:.4g} {b.unit}" for b in bounds),
            limit_source="policy",
            exchanges=ids(touched),
            fault="ours" if over else "",
        )

    def _bounds(self, samples: Readings, late: int, touched: float | None) -> Sequence[Bound]:
        """``late`` seconds among the samples; the share of exchanges ``touched``, in percent."""
        cpu, lags = _values(samples, "cpu_percent"), _values(samples, "loop_lag_max_ms")
        some = late > 1  # one moment says nothing of the rest
        return (
            Bound("CPU p90", upper(cpu, 90) if cpu else None, self.cpu * 100, "%"),
            Bound("loop lag max", max(lags, default=None), self.lag_max * 1000, "ms"),
            Bound("the share of late seconds", _percent(late, len(lags)), self.late * 100, "%", some),
            Bound("that of exchanges touched", touched, self.touched * 100, "%", some),
        )

    def _faults(self, evidence: Evidence) -> Iterable[Finding]:
        """What the tester's own code raised beside its scenarios."""
        faults = [e for e in evidence.events if e.what == "tester_fault"]
        if faults:
            yield finding(
                self,
                "faults",
                Outcome.ERROR,
                f"{counted(len(faults), 'fault')} of the tester itself; "
                f"first: {plain(faults[0].details.get('error'), 200)}.",
                figures=(Figure(name="faults", value=len(faults)),),
                limit="none",
                span=(faults[0].t_ns / NS, faults[-1].t_ns / NS),
                fault="ours",
            )

    def _slip(self, evidence: Evidence) -> Finding:
        """How late requests were sent. A closed loop sends when it is free: what it needs is at once."""
        table = evidence.exchange_table
        late = (table["sent_ns"] - table["due_ns"]) / NS
        p99 = upper(late.tolist(), 99) if len(late) else None
        slipped = table.where(late > self.slip)
        void = _moments(slipped) > 1 and len(slipped) > self.slipped * len(late)
        outcome = Outcome.INCONCLUSIVE if p99 is None or void else Outcome.PASS
        if p99 is None:
            answer = "No request was sent."
        else:
            kept = "The tester did not keep its schedule" if void else "The schedule was kept"
            but = f"; {len(slipped)} later than {self.slip:g} s" if slipped else ""
            slip = f"within {p99:.3g} s of when" if p99 >= 0.001 else "the moment that"
            answer = f"{kept}: 99 % of {len(late)} requests were sent {slip} they were due{but}."
        return finding(
            self,
            "schedule",
            outcome,
            answer,
            figures=(Figure(name="send delay p99", value=p99, unit="s", n=len(late)), *_totals(evidence)),
            limit=f"{self.slipped:.0%} later than {self.slip:g} s",
            limit_source="policy",
            exchanges=ids(slipped["id"]),
            fault="ours" if void else "",
        )


def _totals(evidence: Evidence) -> Iterable[Figure]:
    """How long answers took from when they were due and from when they were asked for, side by side."""
    table = evidence.exchange_table
    whole = table.where((table["outcome"] == "ok") & np.isnan(table["cancelled_ns"]))
    for name, start in (("due", "due_ns"), ("sent", "sent_ns")):
        times = ((whole["done_ns"] - whole[start]) / NS).tolist()
        p99 = upper(times, 99) if times else None
        yield Figure(name=f"total time p99 since {name}", value=p99, unit="s", n=len(whole))


def _values(samples: Readings, name: str) -> Sequence[float]:
    return series(samples, reading(name)).values


def _unknown(samples: Readings, what: str, name: str) -> str:
    """What of the tester was not measured, or too seldom to say that it was no more; empty otherwise."""
    seen = known(samples, reading(name))
    if not seen.n:
        return what
    return "" if seen.is_enough else f"{what} in {seen.of - seen.n} of {counted(seen.of, 'reading')}"


def _most(name: str, values: Sequence[float]) -> Figure:
    return Figure(name=name, value=max(values, default=None), n=len(values))


def _kept_up(late: Readings, touched: int) -> str:
    if not len(late):
        return "The tester kept up."
    worst, times = lags_s(late).max(), counted(touched, "exchange")
    seconds = counted(len(late), "second")
    return (
        f"The tester kept up but for {seconds} (worst lag {worst:.2g} s); the times of {times} are less sure."
    )


def _moments(late: Table[Exchange]) -> int:
    """How often requests were late: those that left together waited for the same thing."""
    return int((np.diff(late["sent_ns"]) > NS / 2).sum()) + bool(len(late))


def _percent(some: int, of: int) -> float | None:
    return 100 * some / of if of else None
