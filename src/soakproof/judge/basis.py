"""What a verdict rests on, in a sentence, and what it says nothing of: for the first screen. Pure; no I/O."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span
from soakproof.judge.telling import counted, length
from soakproof.judge.trend import LEAK_FROM_S
from soakproof.nesting import bounded
from soakproof.plain import listed, model_name, plain, server_name
from soakproof.units import Seconds

KINDS_SHOWN = 6
_ABOUT_AS_LONG = 0.05  # by which a run may differ from its plan's own duration without a word on that
_SOURCES = {  # what is told of as unseen, with the sources that see it
    "the kernel log": ("kernel_log",),
    "the host's memory": ("memory",),
    "the server's processes": ("process",),
    "the server's log": ("server_log",),
    "the slots": ("slots",),
    "a GPU": ("amdgpu", "nvidia"),
}


def rests_on(evidence: Evidence, baseline: Evidence | None, usable: Evidence | None) -> str:
    """How long, on what, how much, against what. ``usable``: the baseline, if it could be compared with."""
    iterations = evidence.iteration_table
    done = int((iterations["end"] == "completed").sum())
    kinds = len(set(iterations["scenario"].tolist()))
    sent = len(evidence.exchange_table) + len(evidence.unclosed)
    return (
        f"{_lasted(evidence)} on {_target(evidence)}: {counted(sent, 'request')} in "
        f"{counted(done, 'completed iteration')} of {counted(kinds, 'kind')}; {_against(baseline, usable)}."
    )


def caveats(evidence: Evidence, usable: Evidence | None) -> Iterator[str]:
    """The main things that a verdict on this run says nothing of, the gravest first."""
    start, _ = load_span(evidence)
    if evidence.target.get("testbed"):
        yield "The target was the testbed: nothing is said of any other server or model."
    if changes := [e for e in evidence.events if e.what == "users_changed"]:
        told = (f"{e.details.get('now')} after {length((e.t_ns - start) / NS)}" for e in changes)
        yield f"The number of users was changed while it ran: {listed(list(told), KINDS_SHOWN)}."
    if evidence.left_out:
        yield f"Kinds of the plan that were not asked: {listed(evidence.left_out, KINDS_SHOWN)}."
    if evidence.recovered:
        yield "The run did not end by itself, and was sealed later: what was lost is unknown."
    if usable is None:
        yield "Nothing is said of faster or slower than before."
    if evidence.duration is not None and evidence.duration < LEAK_FROM_S:
        yield f"{length(evidence.duration)} can neither prove nor exclude a leak."
    unseen = [what for what, sources in _SOURCES.items() if not any(evidence.saw(s) for s in sources)]
    if unseen:
        yield f"Not seen: {', '.join(unseen)}."


def plan_duration(evidence: Evidence) -> float | None:
    """Seconds that the plan itself asks for, before any option; None where that is not known."""
    try:
        source = bounded(tomllib.loads(str(evidence.plan.get("source") or "")))
        return Seconds.parse(source["duration"]) if "duration" in source else evidence.plan.get("duration_s")
    except (ValueError, RecursionError, TypeError):
        return None


def _lasted(evidence: Evidence) -> str:
    lasted, planned = evidence.duration, plan_duration(evidence)
    if lasted is None:
        return "a load of unknown length"
    differs = planned is not None and abs(lasted - planned) > _ABOUT_AS_LONG * planned
    of = f" (its plan has {length(planned)})" if planned is not None and differs else ""
    return f"{length(lasted)} of load{of}"


def _target(evidence: Evidence) -> str:
    target = evidence.target
    if target.get("testbed"):
        return "the embedded testbed" if target.get("embedded") else f"the testbed at {_address(target)}"
    server = server_name(target.get("kind"))
    model = plain(model_name(target.get("model_resolved") or target.get("model") or "unknown"), 60)
    return f"{server} at {_address(target)} with {model}"


def _address(target: Mapping[str, Any]) -> str:
    return plain(target.get("base_url") or "an unknown address", 80)


def _against(baseline: Evidence | None, usable: Evidence | None) -> str:
    if baseline is None:
        return "no baseline"
    name = plain(baseline.id, 80)
    lasted = "of unknown length" if baseline.duration is None else length(baseline.duration)
    others = [run.id for run in (usable.repeats if usable else ())]
    more = f" and {counted(len(others), 'more run')} of it, {listed(others, KINDS_SHOWN, limit=80)}"
    told = f"the baseline {name} ({lasted}){more if others else ''}"
    return f"against {told}" if usable else f"{told} could not be compared with"
