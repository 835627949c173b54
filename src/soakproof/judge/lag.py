"""How late the tester's own event loop was: time that no server is to blame for. Pure; no I/O."""

import numpy as np

from soakproof.clock import NS
from soakproof.columns import Array
from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Floats
from soakproof.samples import Readings


def lags_s(told: Readings) -> Floats:
    """Seconds, of each reading; 0 for one that does not tell, which is looked at elsewhere."""
    return np.nan_to_num(told.numbers("loop_lag_max_ms")) / 1000


class Lag:
    """One tester's lag: each reading is of the second before it."""

    def __init__(self, told: Readings) -> None:
        lags = lags_s(told)
        self._ends = told.t_ns.astype(np.float64)
        self._begun = np.maximum.accumulate(self._ends - (1 + lags) * NS)
        self._sums = np.concatenate([[0.0], np.cumsum(lags)])

    def of_each(self, from_ns: Array, until_ns: Array) -> Floats:
        """Seconds of lag that may lie in each of these times, none of which ends before it begins."""
        first = np.searchsorted(self._ends, from_ns, "right")
        behind = np.searchsorted(self._begun, until_ns)
        return np.asarray(np.maximum(self._sums[behind] - self._sums[first], 0), np.float64)


class Lags:
    """The lags of a run's testers."""

    def __init__(self, evidence: Evidence) -> None:
        told = evidence.source("tester")
        self._of = {str(node): Lag(told.of(node)) for node in dict.fromkeys(told.node)}

    def of_each(self, nodes: Array, from_ns: Array, until_ns: Array) -> Floats:
        """The same of many exchanges, each of one of these nodes; 0 of one whose tester left no samples."""
        found = np.zeros(len(nodes))
        for node, lag in self._of.items():
            own = nodes == node
            found[own] = lag.of_each(from_ns[own], until_ns[own])
        return found
