"""The server's own log: its words convict, blindness never passes where the log is required."""

import pytest

from soakproof.judge import Outcome
from soakproof.records import Event, Record
from soakproof.testing.evidence import adjudicate, event, evidence, sample, trace

LOG = "server_log:llama.log"


def line(at: float, fault_class: str = "device_lost", severity: str = "fail", message: str = "") -> Event:
    said = message or "terminate called after throwing an instance of 'vk::DeviceLostError'"
    told = {"source": LOG, "signature": "V1", "fault_class": fault_class, "severity": severity}
    return event("server_log", at, **told, message=said)


def log(**more: float) -> list[Record]:
    return list(trace(LOG, 5, **{"lines": 120, "skipped_bytes": 0, **more}))


def test_a_quiet_log_passes_and_says_what_it_cannot_show() -> None:
    found = adjudicate("server_log", evidence(log()), required=True)
    assert {name: f.outcome for name, f in found.items()} == {"log": Outcome.PASS}
    assert "120 lines that llama.log gained" in found["log"].answer
    assert "killed" in found["log"].strength


@pytest.mark.parametrize(
    ("fault_class", "advice"),
    [
        ("device_lost", "kernel's log"),
        ("device_error", "kernel's log"),
        ("out_of_memory", "less context"),
        ("crash", "reported"),
        ("backend_lost", "lines before it"),
    ],
)
def test_a_fault_fails_by_its_class_with_the_line_and_what_helps(fault_class: str, advice: str) -> None:
    found = adjudicate("server_log", evidence(log(), line(12.0, fault_class), line(12.5, fault_class)))
    fault = found[fault_class]
    assert (fault.outcome, fault.fault, fault.critical) == (Outcome.FAIL, "backend", True)
    assert "2 lines, the first at 12.0 s in llama.log: terminate called" in fault.answer
    assert advice in fault.answer
    assert fault.span == (12.0, 12.5)
    assert "log" not in found


def test_each_class_is_a_finding_of_its_own() -> None:
    found = adjudicate("server_log", evidence(log(), line(1.0, "out_of_memory"), line(2.0, "crash")))
    assert set(found) == {"out_of_memory", "crash"}


def test_a_warning_decides_nothing() -> None:
    refused = line(3.0, "memory_refused", "warn", "ggml_vulkan: Failed to allocate pinned memory.")
    found = adjudicate("server_log", evidence(log(), refused), required=True)
    assert {name: (f.outcome, f.critical) for name, f in found.items()} == {
        "log": (Outcome.PASS, True),
        "warnings": (Outcome.PASS, False),
    }
    assert "pinned memory" in found["warnings"].answer


@pytest.mark.parametrize(
    ("records", "why", "unread"),
    [
        ([], "none was named", False),
        (
            [sample("server_log", 0.0, state="unsupported", reason="no log was named")],
            "none was named",
            False,
        ),
        (
            [sample(LOG, 0.0, state="denied", reason="llama.log: Permission denied")],
            "Permission denied",
            True,
        ),
        ([*log(), sample(LOG, 9.0, state="timeout", reason="no answer within 1 s")], "no answer", False),
        (log(skipped_bytes=5 << 20), "5.0 MiB", True),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_a_log_that_was_not_seen(records: list[Record], why: str, unread: bool, required: bool) -> None:
    """A part of a named log that is known to have gone unread decides, whatever the policy says."""
    found = adjudicate("server_log", evidence(records), required=required)
    assert (found["log"].outcome, found["log"].critical) == (Outcome.INCONCLUSIVE, required or unread)
    assert why in found["log"].answer


def test_a_reading_that_came_late_lost_nothing() -> None:
    late = sample(LOG, 0.5, state="timeout", reason="a read did not come back within 0.5 s")
    found = adjudicate("server_log", evidence(late, log()), required=True)
    assert found["log"].outcome is Outcome.PASS


def test_what_was_seen_of_a_fault_counts_where_the_rest_was_not_seen() -> None:
    lost = sample(LOG, 9.0, state="error", reason="gone")
    found = adjudicate("server_log", evidence(log(), line(3.0), lost))
    assert found["device_lost"].outcome is Outcome.FAIL
    assert found["log"].outcome is Outcome.INCONCLUSIVE
