"""The server's processes as they were sampled against the events of their restarts. No I/O.

The watch writes an event whenever a role is played by another process than before, so samples that change
their process without one tell of a restart that was lost, or taken out.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from soakproof.amounts import number
from soakproof.judge.books.disagreement import Disagreement, of_places
from soakproof.records import Event
from soakproof.samples import Readings

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

SOURCE = "process:"
CREATED_S = 2.0  # start times of one process may be told so far apart: they rest on the host's clock


def processes(evidence: "Evidence") -> Iterator[Disagreement]:
    """Every change of a role's process in its samples has an event of its restart."""
    restarts = [e for e in evidence.events if e.what == "restart"]
    found = [
        f"{told.source} at {told.times_s[place]:.1f} s"
        for source, samples in evidence.samples.items()
        if source.startswith(SOURCE)
        for told in (samples.of(str(node)).with_value() for node in dict.fromkeys(samples.node))
        for place in _changes(told)
        if not any(_tells(event, told, place) for event in restarts)
    ]
    yield from of_places("watch", found, "change", "of a process of the server's that no event tells")


def _changes(told: Readings) -> list[int]:
    """Places of readings of another process than the one before them: another pid, or another start time."""
    pids, created = told.numbers("pid"), told.numbers("created")
    at = np.flatnonzero(~np.isnan(pids))
    other_pid = at[1:][np.diff(pids[at]) != 0]
    at = np.flatnonzero(~np.isnan(pids) & ~np.isnan(created))
    same_pid = np.diff(pids[at]) == 0
    begun_anew = at[1:][same_pid & (np.abs(np.diff(created[at])) > CREATED_S)]
    return sorted({*other_pid.tolist(), *begun_anew.tolist()})


def _tells(event: Event, told: Readings, place: int) -> bool:
    """Whether an event says that this reading's process came in this role."""
    details = event.details
    came = f"{SOURCE}{details.get('role')}", details.get("is_pid")
    if came != (told.source, told.numbers("pid")[place]):
        return False
    created, said = float(told.numbers("created")[place]), number(details.get("is_created"))
    return said is None or np.isnan(created) or abs(said - created) <= CREATED_S
