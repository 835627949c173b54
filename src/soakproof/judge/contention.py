"""Whether others than the server took the host's processors, in a run or more than in another. No I/O."""

from collections.abc import Iterator
from statistics import mean, median

import numpy as np

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Series, during_load, one_process, reading, series
from soakproof.judge.statistics import Floats
from soakproof.samples import Readings

PRESSURE = 10.0  # percentage points of time in which somebody waited for a processor
OTHERS_CORES = 0.3  # that others use more
OWN_CORES = 0.3  # that the server itself uses more: then the pressure is its own
LEAST = 6  # readings


def contended(evidence: Evidence) -> str:
    """In words, that the pressure on processors rose and the server is not why; empty otherwise.

    The last third of the load against the first. Where the pressure was not read it is empty, too: nothing
    excuses what was not seen.
    """
    early, late = _thirds(_pressure(evidence))
    if early is None or late is None or late - early < PRESSURE:
        return ""
    if _own_cores(evidence) >= OWN_CORES:
        return ""
    return (
        f"somebody waited for a processor in {early:.0f} % of the time at first and {late:.0f} % at last, "
        "and the server uses no more of them"
    )


def busier(evidence: Evidence, other: Evidence) -> str:
    """In words, that the pressure on processors was higher than in the other run, and that others than the
    server and the tester used more of them; empty otherwise, and where that was not read: a server that asks
    for more than there is makes pressure as well.
    """
    now, before = pressure(evidence), pressure(other)
    theirs, then = _others_cores(evidence), _others_cores(other)
    if now is None or before is None or theirs is None or then is None:
        return ""
    if now - before < PRESSURE or theirs - then < OTHERS_CORES:
        return ""
    return (
        f"somebody waited for a processor in {now:.0f} % of the time, {before:.0f} % in the other run, and "
        f"others than the server and the tester used {theirs:.1f} processors, {then:.1f} in that run"
    )


def _others_cores(evidence: Evidence) -> float | None:
    """Processors that others used on the average, those of other virtual machines among them."""
    told, tester = evidence.source("cpu"), evidence.source("tester")
    used = during_load(evidence, series(told, _cores_used))
    own = during_load(evidence, series(tester, reading("cpu_percent")))
    servers = list(_used(evidence))
    if min(len(used), len(own)) < LEAST or not servers:
        return None
    return max(0.0, mean(used.values) - _cores(evidence) - mean(own.values) / 100)


def _cores_used(told: Readings) -> Floats:
    share = told.numbers("busy_percent") + np.nan_to_num(told.numbers("stolen_percent"))
    return share / 100 * told.numbers("cores")


def pressure(evidence: Evidence) -> float | None:
    """Percent of the time in which somebody waited for a processor, the median; None where too little was
    read.
    """
    found = _pressure(evidence)
    return median(found.values) if len(found) >= LEAST else None


def _pressure(evidence: Evidence) -> Series:
    return during_load(evidence, series(evidence.source("psi"), reading("cpu_some_avg10_percent")))


def _cores(evidence: Evidence) -> float:
    """How many processors the server's processes used on the average."""
    return sum(_rate(np.array(used.times), np.array(used.values)) for used in _used(evidence))


def _used(evidence: Evidence) -> Iterator[Series]:
    """The processor time of each of the server's processes."""
    for source, samples in evidence.samples.items():
        if source.startswith("process:"):
            used = during_load(evidence, series(one_process(samples)[0], reading("cpu_seconds")))
            if len(used) >= LEAST:
                yield used


def _rate(at: Floats, seconds: Floats) -> float:
    span = float(np.ptp(at))
    return float(seconds[-1] - seconds[0]) / span if span > 0 else 0.0


def _thirds(found: Series) -> tuple[float | None, float | None]:
    """Medians of the first and the last third."""
    if len(found) < LEAST:
        return None, None
    at, value = np.array(found.times), np.array(found.values)
    third = (at[-1] - at[0]) / 3
    return float(np.median(value[at <= at[0] + third])), float(np.median(value[at >= at[-1] - third]))


def _own_cores(evidence: Evidence) -> float:
    """How many processors more the server's processes use in the last third than in the first."""
    return sum(map(_change_of_rate, _used(evidence)))


def _change_of_rate(used: Series) -> float:
    at, seconds = np.array(used.times), np.array(used.values)
    third = (at[-1] - at[0]) / 3
    early, late = at <= at[0] + third, at >= at[-1] - third
    return _rate(at[late], seconds[late]) - _rate(at[early], seconds[early])
