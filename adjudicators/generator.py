"""The tester's own health: a saturated tester can neither pass nor fail a server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ratio,
    Seconds,
    counted,
    finding,
    ids,
    plain,
    upper,
)
from soakproof.records import Sample


@dataclass(frozen=True)
class Generator(Adjudicator):
    """Was the tester itself the bottleneck?

    ``cpu`` is a share of one core, which is all that one load process can use; it is compared with the 90th
    percentile of the samples, ``lag`` with the 99th of each second's greatest event-loop lag, ``lag_max``
    with the greatest of all. ``slip`` bounds the 99th percentile of how late requests were sent.
    """

    cpu: Ratio = Ratio(0.85)
    lag: Seconds = Seconds(0.5)
    lag_max: Seconds = Seconds(5)
    slip: Seconds = Seconds(1)

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        by_node: dict[str, list[Sample]] = {}
        for sample in evidence.samples.get("tester", ()):
            by_node.setdefault(sample.node, []).append(sample)
        if not by_node:
            yield finding(self, "load", Outcome.INCONCLUSIVE, "The tester left no samples of itself.")
        for node, samples in by_node.items():
            yield self._node(node, samples)
        yield self._slip(evidence)
        yield from self._faults(evidence)

    def _node(self, node: str, samples: Sequence[Sample]) -> Finding:
        cpu, lags = _values(samples, "cpu_percent"), _values(samples, "loop_lag_max_ms")
        waiting, in_flight = _values(samples, "permits_waiting"), _values(samples, "in_flight")
        measured = (
            ("CPU p90", upper(cpu, 90) if cpu else None, self.cpu * 100, "%"),
            ("loop lag p99", upper(lags, 99) if lags else None, self.lag * 1000, "ms"),
            ("loop lag max", max(lags, default=None), self.lag_max * 1000, "ms"),
        )
        over = [
            f"{name} is {value:.4g} {unit}" for name, value, limit, unit in measured if _above(value, limit)
        ]
        missing = [name for name, value, _, _ in measured if value is None]
        if over:
            answer = f"The tester itself was too slow, so nothing it timed is sure: {', '.join(over)}."
        elif missing:
            answer = f"Not known: {', '.join(missing)}."
        else:
            answer = "The tester kept up."
        return finding(
            self,
            node,
            Outcome.INCONCLUSIVE if over or missing else Outcome.PASS,
            answer,
            figures=(
                *(
                    Figure(name=name, value=value, unit=unit, n=len(samples))
                    for name, value, _, unit in measured
                ),
                Figure(name="most in flight", value=max(in_flight, default=None), n=len(in_flight)),
                Figure(name="most waiting for a permit", value=max(waiting, default=None), n=len(waiting)),
            ),
            limit=", ".join(f"{name} at most {limit:.4g} {unit}" for name, _, limit, unit in measured),
            limit_source="policy",
            fault="ours" if over else "",
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
                span=(faults[0].t_ns / NS, faults[-1].t_ns / NS),
                fault="ours",
            )

    def _slip(self, evidence: Evidence) -> Finding:
        """How late requests were sent. A closed loop sends when it is free: what it needs is at once."""
        late = [(e, (e.sent_ns - e.due_ns) / NS) for e in evidence.exchanges]
        p99 = upper([seconds for _, seconds in late], 99) if late else None
        slipped = [e for e, seconds in late if seconds > self.slip]
        outcome = Outcome.INCONCLUSIVE if p99 is None or p99 > self.slip else Outcome.PASS
        if p99 is None:
            answer = "No request was sent."
        else:
            kept = (
                "The schedule was kept" if outcome is Outcome.PASS else "The tester did not keep its schedule"
            )
            slip = f"within {p99:.3g} s of when" if p99 >= 0.001 else "the moment that"
            answer = f"{kept}: 99 % of {len(late)} requests were sent {slip} they were due."
        return finding(
            self,
            "schedule",
            outcome,
            answer,
            figures=(Figure(name="send delay p99", value=p99, unit="s", n=len(late)), *_totals(evidence)),
            limit=f"{self.slip:g} s",
            limit_source="policy",
            exchanges=ids(slipped),
            fault="ours" if slipped and outcome is not Outcome.PASS else "",
        )


def _totals(evidence: Evidence) -> Iterable[Figure]:
    """How long answers took from when they were due and from when they were asked for, side by side."""
    whole = [e for e in evidence.exchanges if e.outcome == "ok" and e.cancelled_ns is None]
    for name, start in (("due", "due_ns"), ("sent", "sent_ns")):
        times = [(e.done_ns - getattr(e, start)) / NS for e in whole]
        p99 = upper(times, 99) if times else None
        yield Figure(name=f"total time p99 since {name}", value=p99, unit="s", n=len(whole))


def _values(samples: Sequence[Sample], name: str) -> list[float]:
    found = (s.values.get(name) for s in samples if s.state == "value")
    return [float(v) for v in found if isinstance(v, (int, float)) and not isinstance(v, bool)]


def _above(value: float | None, limit: float) -> bool:
    return value is not None and value > limit
