"""How late the tester's own event loop was: time that no server is to blame for. Pure; no I/O."""

from bisect import bisect_right
from collections.abc import Sequence

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.metrics import number
from soakproof.records import Exchange, Sample


def lag_s(sample: Sample) -> float:
    """Seconds; 0 for a sample that does not tell, which is looked at elsewhere."""
    told = number(sample.values.get("loop_lag_max_ms")) if sample.state == "value" else None
    return (told or 0.0) / 1000


def lag_between(samples: Sequence[Sample], from_ns: int, until_ns: int) -> float:
    """Seconds of lag that may lie in a time. ``samples`` are one tester's, each of the second before it."""
    total = 0.0
    for place in range(bisect_right(samples, from_ns, key=lambda s: s.t_ns), len(samples)):
        lag = lag_s(samples[place])
        if samples[place].t_ns - (1 + lag) * NS >= until_ns:
            break
        total += lag
    return total


class Lags:
    """The lags of a run's testers."""

    def __init__(self, evidence: Evidence) -> None:
        self._samples: dict[str, list[Sample]] = {}
        for sample in evidence.samples.get("tester", ()):
            self._samples.setdefault(sample.node, []).append(sample)

    def within(self, exchange: Exchange, from_ns: int, until_ns: int) -> float:
        """Seconds of lag of the tester that made this exchange; 0 where it left no samples."""
        return lag_between(self._samples.get(exchange.node, ()), from_ns, until_ns)
