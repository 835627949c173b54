"""Whether others than the server took the host's processors, in a run or more than in another. No I/O."""

from collections.abc import Iterator
from statistics import median

import numpy as np

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Series, during_load, one_process, reading, series
from soakproof.judge.statistics import Floats

PRESSURE = 10.0  # percentage points of time in which somebody waited for a processor
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
    """In words, that the pressure on processors was higher than in the other run, and that the server is not
    why; empty otherwise, and where the pressure of either was not read.
    """
    now, before = pressure(evidence), pressure(other)
    if (
        now is None
        or before is None
        or now - before < PRESSURE
        or _cores(evidence) - _cores(other) >= OWN_CORES
    ):
        return ""
    return (
        f"somebody waited for a processor in {now:.0f} % of the time, {before:.0f} % in the other run, and "
        "the server used no more of them"
    )


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
