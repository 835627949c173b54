"""Evidence written by hand, in three lines, to test an adjudicator without a run.

    from soakproof.testing.evidence import adjudicate, evidence, exchange

    def test_slow_answers_fail():
        run = evidence(exchange(f"e{n}", took=30.0, at=n) for n in range(30))
        assert adjudicate("patience", run)["long_prose"].outcome is Outcome.FAIL

Times are seconds of the run. An exchange is named ``<kind>-<iteration>-<role>`` unless it is given an id.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from soakproof.catalog import Catalog
from soakproof.clock import nanoseconds
from soakproof.judge import Evidence, Finding
from soakproof.records import (
    Check,
    CheckOutcome,
    Event,
    Exchange,
    Iteration,
    IterationEnd,
    KernelEvent,
    Opened,
    Outcome,
    Record,
    Sample,
    SourceState,
)
from soakproof.settings import build

KIND = "long_prose"
PLAN: dict[str, Any] = {
    "name": "hand",
    "title": "Written by hand",
    "duration_s": 60.0,
    "users": 2,
    "seed": 1,
    "deck": 1,
    "think_time_s": 0.0,
    "queueing": False,
    "drain_s": 10.0,
    "watch": {"interval_s": 1.0, "slots_every_s": 2.5},
    "thresholds": [],
}
TARGET: dict[str, Any] = {
    "kind": "llamacpp",
    "base_url": "http://127.0.0.1:8001",
    "model": "probe",
    "model_resolved": "probe",
    "build": "b1",
    "slots": 2,
    "slot_context": 16384,
}


def exchange(
    id: str | None = None,
    *,
    at: float = 0.0,
    took: float = 1.0,
    first: float | None = 0.1,
    kind: str = KIND,
    iteration: int = 1,
    role: str = "ask",
    due: float | None = None,
    outcome: Outcome = "ok",
    **more: Any,
) -> Exchange:
    """A closed exchange sent at ``at``; ``first`` is the share of ``took`` until its first token."""
    ok = outcome == "ok"
    token = None if first is None or not ok else nanoseconds(at + first * took)
    last = None if token is None else nanoseconds(at + took)
    values: dict[str, Any] = {
        "id": id or f"{kind}-{iteration}-{role}",
        "node": "load",
        "scenario": kind,
        "iteration": iteration,
        "role": role,
        "seed": 1000 + iteration,
        "due_ns": nanoseconds(at if due is None else due),
        "sent_ns": nanoseconds(at),
        "model_asked": "probe",
        "stream": True,
        "max_tokens": 64,
        "prompt_chars": 100,
        "prompt_digest": "p",
        "outcome": outcome,
        "status": 200 if ok else None,
        "headers_ns": nanoseconds(at) if ok else None,
        "first_token_ns": token,
        "first_content_ns": token,
        "first_visible_ns": token,
        "last_token_ns": last,
        "done_ns": nanoseconds(at + took),
        "finish_reason": "stop" if ok else None,
        "text": "yes" if ok else "",
    } | more
    kept = str(values["text"]).encode("utf-8", "replace")
    return Exchange(**{"text_digest": hashlib.sha256(kept).hexdigest() if kept else "", **values})


def opened(closed: Exchange) -> Opened:
    """The line that was written when the exchange was sent."""
    return Opened(**{name: getattr(closed, name) for name in Opened.__struct_fields__})


def check(
    name: str,
    outcome: CheckOutcome = "pass",
    *,
    at: float = 0.0,
    kind: str = KIND,
    iteration: int = 1,
    grade: str = "",
    reason: str = "",
    exchanges: tuple[str, ...] = (),
    node: str = "load",
) -> Check:
    """A check of one iteration."""
    return Check(
        node=node,
        t_ns=nanoseconds(at),
        scenario=kind,
        iteration=iteration,
        name=name,
        outcome=outcome,
        grade=grade,
        reason=reason,
        exchanges=exchanges,
    )


def iteration(
    kind: str = KIND,
    number: int = 1,
    *,
    at: float = 0.0,
    took: float = 1.0,
    end: IterationEnd = "completed",
    reason: str = "",
    node: str = "load",
    **counts: float,
) -> Iteration:
    """One iteration; keywords are its counts, ``overlap`` for ``<kind>.overlap``."""
    return Iteration(
        node=node,
        scenario=kind,
        number=number,
        started_ns=nanoseconds(at),
        ended_ns=nanoseconds(at + took),
        end=end,
        reason=reason,
        counts={f"{kind}.{name}": amount for name, amount in counts.items()},
    )


def sample(
    source: str = "memory",
    at: float = 0.0,
    *,
    node: str = "watch",
    state: SourceState = "value",
    reason: str = "",
    took: float = 0.001,
    **values: Any,
) -> Sample:
    """One reading of a source; keywords are its values."""
    return Sample(
        node=node,
        source=source,
        due_ns=nanoseconds(at),
        t_ns=nanoseconds(at + took),
        took_ns=nanoseconds(took),
        state=state,
        values=values,
        reason=reason,
    )


def trace(
    source: str,
    seconds: float = 60.0,
    *,
    every: float = 1.0,
    start: float = 0.0,
    node: str = "watch",
    **values: Any,
) -> list[Sample]:
    """A source's samples on schedule; a value that can be called is a function of the run's seconds."""
    return [
        sample(source, at, node=node, **{name: _at(value, at) for name, value in values.items()})
        for at in (start + step * every for step in range(round(seconds / every)))
    ]


def _at(value: Any | Callable[[float], Any], at: float) -> Any:
    return value(at) if callable(value) else value


def kernel(message: str = "amdgpu: ring gfx timeout", at: float = 0.0, **more: Any) -> KernelEvent:
    """One line of the kernel log."""
    values = {"node": "watch", "sequence": None, "facility": 0, **more}
    return KernelEvent(t_ns=nanoseconds(at), message=message, **values)


def event(what: str, at: float = 0.0, *, node: str = "watch", **details: Any) -> Event:
    """Something that happened to the run itself; keywords are its details."""
    return Event(node=node, t_ns=nanoseconds(at), what=what, details=details)


def evidence(
    *records: Record | Iterable[Record],
    duration: float = 60.0,
    plan: dict[str, Any] | None = None,
    target: dict[str, Any] | None = None,
    run: dict[str, Any] | None = None,
    raw: dict[str, Any] | None = None,
    nodes: tuple[str, ...] = ("load", "watch"),
    problems: tuple[str, ...] = (),
    seal_problems: tuple[str, ...] = (),
    recovered: bool = False,
    unopened: bool = False,
    id: str = "run-a",
) -> Evidence:
    """Evidence of these records (lists are taken apart), with every exchange opened unless ``unopened``.

    The plan's kinds are those of the records, one a deck, unless ``plan`` has its own; ``plan``, ``target``
    and ``run`` are laid over the defaults.
    """
    flat = _flat(records)
    there = () if unopened else tuple(opened(r) for r in flat if isinstance(r, Exchange))
    kinds = dict.fromkeys(r.scenario for r in flat if isinstance(r, (Exchange, Iteration, Check)))
    document = {
        "format": 1,
        "id": id,
        "state": "ended",
        "plan": {**PLAN, "duration_s": duration, "kinds": [plan_kind(k) for k in kinds], **(plan or {})},
        "target": {**TARGET, **(target or {})},
        "load_started_ns": 0,
        "load_ended_ns": nanoseconds(duration),
        "ended": {"why": "time", "reason": ""},
        **(run or {}),
    }
    return Evidence(
        run=document,
        raw=raw,
        records=there + flat,
        nodes=nodes,
        problems=problems,
        seal_problems=seal_problems,
        recovered=recovered,
        id=id,
    )


def plan_kind(name: str, count: int = 1, checks: tuple[str, ...] = (), **options: Any) -> dict[str, Any]:
    """A kind as run.json tells it."""
    return {
        "name": name,
        "scenario": name,
        "count": count,
        "options": options,
        "checks": list(checks),
        "width": 1,
    }


def _flat(records: Iterable[Record | Iterable[Record]]) -> tuple[Record, ...]:
    found: list[Record] = []
    for item in records:
        found.extend([item] if isinstance(item, Record) else item)
    return tuple(found)


def adjudicate(
    name: str, run: Evidence, baseline: Evidence | None = None, **options: Any
) -> dict[str, Finding]:
    """Subject to finding, of the adjudicator of a name or file; options as a policy writes them.

    The folder one works in comes first, as everywhere. Raises UsageError for an adjudicator that there is
    not, and AssertionError for a subject with two findings.
    """
    kind = Catalog().adjudicator(name)
    found = list(build(kind, options, name).judge(run, baseline))
    subjects = {f.subject: f for f in found}
    assert len(subjects) == len(found), f"a subject twice: {[f.subject for f in found]}"
    return subjects
