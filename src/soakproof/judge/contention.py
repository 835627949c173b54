"""Whether something else than the server took the host's processors in the course of a run. Pure; no I/O."""

import numpy as np

from soakproof.judge.evidence import Evidence
from soakproof.judge.series import Series, during_load, one_process, reading, series

PRESSURE = 10.0  # percentage points of time in which somebody waited for a processor
OWN_CORES = 0.3  # that the server itself uses more: then the pressure is its own
LEAST = 6  # readings


def contended(evidence: Evidence) -> str:
    """In words, that the pressure on processors rose and the server is not why; empty otherwise.

    The last third of the load against the first. Where the pressure was not read it is empty, too: nothing
    excuses what was not seen.
    """
    pressure = during_load(evidence, series(evidence.source("psi"), reading("cpu_some_avg10_percent")))
    early, late = _thirds(pressure)
    if early is None or late is None or late - early < PRESSURE:
        return ""
    if _own_cores(evidence) >= OWN_CORES:
        return ""
    return (
        f"somebody waited for a processor in {early:.0f} % of the time at first and {late:.0f} % at last, "
        "and the server uses no more of them"
    )


def _thirds(found: Series) -> tuple[float | None, float | None]:
    """Medians of the first and the last third."""
    if len(found) < LEAST:
        return None, None
    at, value = np.array(found.times), np.array(found.values)
    third = (at[-1] - at[0]) / 3
    return float(np.median(value[at <= at[0] + third])), float(np.median(value[at >= at[-1] - third]))


def _own_cores(evidence: Evidence) -> float:
    """How many processors more the server's processes use in the last third than in the first."""
    more = 0.0
    for source, samples in evidence.samples.items():
        if source.startswith("process:"):
            used = during_load(evidence, series(one_process(samples)[0], reading("cpu_seconds")))
            more += _change_of_rate(used)
    return more


def _change_of_rate(used: Series) -> float:
    if len(used) < LEAST:
        return 0.0
    at, seconds = np.array(used.times), np.array(used.values)
    third = (at[-1] - at[0]) / 3
    rates = []
    for part in (at <= at[0] + third, at >= at[-1] - third):
        span = float(np.ptp(at[part]))
        rates.append(float(seconds[part][-1] - seconds[part][0]) / span if span > 0 else 0.0)
    return rates[1] - rates[0]
