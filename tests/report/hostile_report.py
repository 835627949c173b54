"""A failing run in which everything that somebody else wrote is hostile: markup, escapes, bidi, control."""

from typing import Any

from soakproof.judge import Evidence, Figure, Finding, Outcome
from soakproof.judge.finding import Reconsidered, Verdict
from soakproof.records import Failure
from soakproof.testing.evidence import (
    check,
    event,
    evidence,
    exchange,
    iteration,
    kernel,
    plan_kind,
    sample,
    trace,
)

SCRIPT = "<script>alert(1)</script>"
IMAGE = "![x](http://evil.test/x.png) [y](javascript:alert(2)) <img src=http://evil.test/y onerror=alert(3)>"
TERMINAL = "\x1b[2J\x1b]0;owned\x07\u202egnp.exe\u2066\x00\x9b31m"
TABLE = "a | b \\| c `tick` ``` **bold** # head\n| new | row |\n- item"
GITHUB = "@team fixes #12, closes GH-3 ::error::x ##[error]y\n::stop-commands::t\n"
NOT_XML = "\x00\x08\x0b\ufffe\uffff\ud800"
ALL = f"{SCRIPT} {IMAGE} {TERMINAL} {TABLE} {GITHUB} {NOT_XML} ]]> &amp; \" ' {{{{ 7*7 }}}} $x^2$"
KIND = f"kind {SCRIPT} $\\frac{{1}}{{2}}$ 中文"


def run() -> Evidence:
    """Two kinds of traffic, failures, a restart, a kernel incident, sources that are silent."""
    bad = exchange(
        "bad-1",
        at=5,
        took=4,
        kind=KIND,
        text=ALL * 20,
        completion_tokens=80,
        token_events=80,
        finish_reason=ALL,
    )
    lost = exchange(
        "lost-1",
        at=12,
        took=3,
        kind=KIND,
        iteration=2,
        outcome="fail",
        failure=Failure.BACKEND_LOST,
        reason=ALL,
        error_body=ALL,
    )
    thought = exchange("thought-1", at=20, took=3, kind="plain", text="", reasoning=ALL)
    return evidence(
        bad,
        lost,
        thought,
        [
            check("own", "fail", kind=KIND, reason=ALL, grade="foreign", exchanges=("bad-1", "gone-1"))
            for _ in range(5)
        ],
        check("own", "fail", kind=KIND, iteration=2, reason=ALL, exchanges=("lost-1",)),
        check("late", "unknown", kind="plain", grade="unreached", reason=ALL, exchanges=("thought-1",)),
        check("slow", "fail", kind="plain", grade="known: front does not cancel", exchanges=("thought-1",)),
        iteration(KIND, 1, at=5, took=4),
        iteration(KIND, 2, at=12, took=3, end="failed", reason=ALL),
        iteration("plain", 1, at=20, took=3),
        sample("memory", 0, state="denied", reason=ALL),
        trace("slots", 40, busy=lambda t: int(5 < t < 9), total=2),
        event(
            "watch_ended",
            40.0,
            reason=ALL,
            ticks_due=ALL,
            ticks_had=[ALL],
            sources={ALL: {"due": ALL}, "x": ALL},
        ),
        event("restart", 15.5, role=ALL, was_pid=1, is_pid=2),
        event("fault_started", 14.0, fault="kill_backend"),
        kernel(ALL, 15.0, severity="fatal", fault_class="ring_timeout", incident=1),
        kernel(ALL, 15.1, severity="fatal", fault_class="ring_timeout", incident=1),
        duration=40.0,
        target={"model": ALL, "launch_command": ["x", ALL], "nested": {"a": {"b": ALL, "c": None}}},
        plan={"title": ALL, "kinds": [plan_kind(KIND, 2), plan_kind("plain")]},
        run={"host": {"cpu": ALL}, "versions": {"python": ALL}, "started_at": ALL},
        problems=(ALL,),
        seal_problems=(ALL,),
        raw=raw(),
        id=ALL,
    )


def raw() -> dict[str, Any]:
    threshold = {
        "name": ALL,
        "that": ALL,
        "why": ALL,
        "outcome": "fail",
        "observed": 1.5,
        "unit": ALL,
        "n": 3,
        "reason": ALL,
    }
    return {
        "outcome": "failed",
        "thresholds": [{**threshold, "failed": 120, "failures": [{"exchange": ALL, "value": 1.5}] * 100}],
        "checks": {ALL: {"pass": 1, "fail": 2, "unknown": 0}},
        "exchanges": {"opened": 3, "closed": 3, "ok": 2, "fail": 1, "unknown": 0},
        "ended": {"why": ALL, "reason": ALL},
    }


def verdict(**more: Any) -> Verdict:
    """One finding of each outcome, all hostile."""
    findings = tuple(
        Finding(
            adjudicator=ALL,
            subject=ALL,
            question=ALL,
            outcome=outcome,
            answer=ALL,
            figures=(
                Figure(name=ALL, value=None, unit=ALL, note=ALL),
                Figure(name=ALL, value=1.0, unit=ALL, n=1, baseline=2.0),
            ),
            limit=ALL,
            limit_source=ALL,
            exchanges=(ALL, "bad-1"),
            strength=ALL,
            fault=ALL,
        )
        for outcome in Outcome
    )
    values: dict[str, Any] = {
        "outcome": Outcome.FAIL,
        "run": ALL,
        "policy": ALL,
        "baseline": ALL,
        "judged_at": ALL,
        "raw": raw(),
        "findings": findings,
        "reconsidered": (
            Reconsidered(
                threshold=ALL, applied=False, reason=ALL, who=ALL, expires=ALL, requires=(ALL,), why_not=ALL
            ),
        ),
        "rests_on": ALL,
        "caveats": (ALL,) * 7,
        "not_proven": (ALL,),
        "identity": {ALL: ALL},
        "changed": ({"field": ALL, "role": ALL, "was": ALL, "is": [ALL]},),
        "versions": {ALL: ALL},
    }
    return Verdict(**{**values, **more})
