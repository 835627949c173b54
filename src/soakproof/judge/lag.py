"""How late the tester's own event loop was: time that no server is to blame for. Pure; no I/O."""

from bisect import bisect_right

import numpy as np

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Floats
from soakproof.judge.table import Array
from soakproof.records import Exchange
from soakproof.samples import Readings


def lags_s(told: Readings) -> Floats:
    """Seconds, of each reading; 0 for one that does not tell, which is looked at elsewhere."""
    return np.nan_to_num(told.numbers("loop_lag_max_ms")) / 1000


class Lag:
    """One tester's lag: each reading is of the second before it."""

    def __init__(self, told: Readings) -> None:
        self._lags: list[float] = lags_s(told).tolist()
        self._ends: list[int] = told.t_ns.tolist()

    def between(self, from_ns: int, until_ns: int) -> float:
        """Seconds of lag that may lie in a time."""
        total = 0.0
        for place in range(bisect_right(self._ends, from_ns), len(self._ends)):
            lag = self._lags[place]
            if self._ends[place] - (1 + lag) * NS >= until_ns:
                break
            total += lag
        return total

    def of_each(self, from_ns: Array, until_ns: Array) -> Floats:
        """The same of many times at once, none of which ends before it begins."""
        ends, lags = np.array(self._ends, np.float64), np.array(self._lags, np.float64)
        begun = np.maximum.accumulate(ends - (1 + lags) * NS)
        sums = np.concatenate([[0.0], np.cumsum(lags)])
        first, behind = np.searchsorted(ends, from_ns, "right"), np.searchsorted(begun, until_ns)
        return np.asarray(np.maximum(sums[behind] - sums[first], 0), np.float64)


class Lags:
    """The lags of a run's testers."""

    def __init__(self, evidence: Evidence) -> None:
        told = evidence.source("tester")
        self._of = {str(node): Lag(told.of(node)) for node in dict.fromkeys(told.node)}

    def within(self, exchange: Exchange, from_ns: int, until_ns: int) -> float:
        """Seconds of lag of the tester that made this exchange; 0 where it left no samples."""
        lag = self._of.get(exchange.node)
        return lag.between(from_ns, until_ns) if lag else 0.0

    def of_each(self, nodes: Array, from_ns: Array, until_ns: Array) -> Floats:
        """The same of many exchanges at once, each of one of these nodes."""
        found = np.zeros(len(nodes))
        for node, lag in self._of.items():
            own = nodes == node
            found[own] = lag.of_each(from_ns[own], until_ns[own])
        return found
