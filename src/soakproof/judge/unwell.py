"""Readings in which the server says that it is not well, while nothing else shows why. Pure; no I/O."""

from typing import Any

import numpy as np

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.samples import Readings

AFTER_S = 60.0  # of a process's end or its being replaced: until then it explains what health says
LEAST = 2  # readings: one may have met a moment that nobody else saw


SOURCES = ("health", "live")


def unwell(evidence: Evidence, source: str) -> Readings:
    """Those of a source while the load ran; none where too few are to be told."""
    told = evidence.source(source).during(*load_span(evidence))
    ill = np.array([_is_ill(*of) for of in zip(told.told("ok"), told.told("backends"), strict=True)], bool)
    explained = np.zeros(len(told), bool)
    for event in evidence.events:
        if event.what in ("restart", "vanished", "guard_trip"):
            explained |= np.abs(told.t_ns - event.t_ns) <= AFTER_S * NS
    found = told.take(told.has_value & ill & ~explained)
    return found if len(found) >= LEAST else found[:0]


def _is_ill(ok: Any, backends: Any) -> bool:
    listed = backends if isinstance(backends, list) else ()
    return ok is False or any(isinstance(b, dict) and b.get("alive") is False for b in listed)
