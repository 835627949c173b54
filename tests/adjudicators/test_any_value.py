"""No adjudicator raises, whatever a record's free fields hold: a value is judged, or left out and told."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from soakproof.catalog import Catalog
from soakproof.judge import Outcome
from soakproof.judge.judging import judge
from soakproof.judge.rules import Policy
from soakproof.policy import load_policy
from soakproof.records import Event, Exchange, Iteration, KernelEvent, Record, Sample
from soakproof.testing.evidence import evidence, exchange

NOW = datetime(2026, 9, 1, tzinfo=UTC)
WHOLE = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3) | st.sampled_from([0, -1, 2**63 - 1, 10**18])
NUMBERS = WHOLE | st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([1e308, -1e308, 5e-324])
HUGE = st.integers(10**15, 10**500) | st.sampled_from([10**400, -(10**400)])  # in tables, not in fields
SCALARS = st.none() | st.booleans() | NUMBERS | HUGE | st.text(max_size=6)
ANY = st.recursive(
    SCALARS, lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(max_size=4), part)
)
TIMES = st.integers(0, 60 * 10**9) | WHOLE

SOURCES = {
    "memory": ("total_bytes", "available_bytes", "swap_used_bytes"),
    "slots": ("total", "busy", "seeds", "tasks", "decoded", "prompt_processed", "prompt_tokens", "ids"),
    "health": ("status_code", "ok", "models_loaded", "pids", "backends"),
    "process:backend": ("pid", "created", "name", "rss_anon_bytes", "swap_bytes", "fds", "threads"),
    "amdgpu:card1": ("gtt_used_bytes", "gtt_total_bytes"),
    "tester": ("cpu_percent", "loop_lag_max_ms", "in_flight", "permits_waiting"),
    "kernel_log": ("via",),
}
EVENTS = {
    "watch_started": ("interval_s", "kernel_log"),
    "watch_ended": ("reason", "ticks_due", "ticks_had", "sources", "states", "incidents"),
    "final_slots": ("busy", "seeds", "waited_s", "reason"),
    "vanished": ("role", "pid", "created"),
    "restart": ("role", "was_pid", "is_pid", "was_created", "is_created"),
    "clock_step": ("step_s",),
    "tester_fault": ("error",),
}


def values(names: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, ANY))


def samples() -> st.SearchStrategy[Sample]:
    def of(source: str) -> st.SearchStrategy[Sample]:
        states = st.sampled_from(["value", "value", "value", "denied", "timeout", "error"])
        node = "load" if source == "tester" else "watch"
        return st.builds(
            Sample,
            node=st.just(node),
            source=st.just(source),
            due_ns=TIMES,
            t_ns=TIMES,
            took_ns=TIMES,
            state=states,
            values=values(SOURCES[source]),
            reason=st.text(max_size=5),
        )

    return st.sampled_from(sorted(SOURCES)).flatmap(of)


def events() -> st.SearchStrategy[Event]:
    def of(what: str) -> st.SearchStrategy[Event]:
        node = "load" if what in ("final_slots", "tester_fault") else "watch"
        return st.builds(
            Event, node=st.just(node), t_ns=TIMES, what=st.just(what), details=values(EVENTS[what])
        )

    return st.sampled_from(sorted(EVENTS)).flatmap(of)


def exchanges() -> st.SearchStrategy[Exchange]:
    free = st.none() | st.dictionaries(
        st.sampled_from(["prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "total_tokens", "cache_n"]),
        ANY,
    )
    token = st.none() | TIMES
    return st.builds(
        lambda n, **more: exchange(f"load-{n}", iteration=n, **more),
        st.integers(0, 5),
        kind=st.sampled_from(["long_prose", "isolation", "cache_pair"]),
        role=st.sampled_from(["a", "b", "ask", "again"]),
        seed=st.integers(0, 3),
        sent_ns=TIMES,
        due_ns=TIMES,
        done_ns=TIMES,
        first_token_ns=token,
        last_token_ns=token,
        cancelled_ns=token,
        widest_gap_ns=token,
        cancel_planned=st.sampled_from([None, "", "prefill", "decode: after 20 token events"]),
        stream=st.booleans(),
        outcome=st.sampled_from(["ok", "ok", "fail", "unknown"]),
        status=st.none() | WHOLE,
        usage=free,
        timings=free,
        text=st.text(max_size=20),
        prompt_tokens=st.none() | WHOLE,
        completion_tokens=st.none() | WHOLE,
        cached_tokens=st.none() | WHOLE,
        token_events=WHOLE,
    )


def others() -> st.SearchStrategy[Record]:
    kernels = st.builds(
        KernelEvent,
        node=st.just("watch"),
        t_ns=TIMES,
        sequence=st.none() | WHOLE,
        facility=st.just(0),
        message=st.text(max_size=10),
        severity=st.sampled_from([None, "fatal", "fail", "warn", "info", "?"]),
        fault_class=st.sampled_from([None, "gpu_page_fault", "oom", "?"]),
        incident=st.none() | WHOLE,
        process=st.none() | st.text(max_size=5),
        pid=st.none() | WHOLE,
        gap=WHOLE,
    )
    iterations = st.builds(
        Iteration,
        node=st.just("load"),
        scenario=st.sampled_from(["long_prose", "isolation"]),
        number=WHOLE,
        started_ns=TIMES,
        ended_ns=TIMES,
        end=st.sampled_from(["completed", "failed", "stopped", "broken"]),
        counts=st.dictionaries(st.sampled_from(["isolation.overlap", "x"]), NUMBERS.map(float)),
    )
    return kernels | iterations


@pytest.fixture(scope="module")
def release() -> Policy:
    return load_policy(Catalog(Path(__file__).parent), "release")


@pytest.mark.parametrize("told", [10**400, -(10**400), 1e308, -1e308, 5e-324, float("inf"), float("nan")])
def test_numbers_that_no_clock_has_said(release: Policy, told: float) -> None:
    """One answer tells them, and another request fails while its slot may still be at work for it."""
    table = dict.fromkeys(("prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "total_tokens"), told)
    run = evidence(
        exchange("load-1", timings=table, usage=table),
        exchange("load-2", iteration=2, at=1.0, outcome="fail", timings=table, usage=table),
        exchange("load-3", iteration=3, at=2.0),
    )
    found = judge(run, release, None, judged_at=NOW)
    assert [f.answer for f in found.findings if f.subject == "adjudicator"] == []
    assert found.outcome is not Outcome.PASS


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(records=st.lists(samples() | events() | exchanges() | others(), max_size=12), repeat=st.integers(1, 3))
def test_every_adjudicator_answers(release: Policy, records: list[Record], repeat: int) -> None:
    run = evidence(*(record for record in records for _ in range(repeat)))
    found = judge(run, release, None, judged_at=NOW)
    assert [f.answer for f in found.findings if f.subject == "adjudicator"] == []
    assert found.outcome is not Outcome.PASS
    assert " nan " not in str([f.answer for f in found.findings])
    bad = [f for f in found.findings if f.outcome in (Outcome.FAIL, Outcome.INCONCLUSIVE)]
    assert [(f.adjudicator, f.subject) for f in bad if not f.limit] == []
