"""The kernel log: faults convict, faults of others contaminate, blindness and gaps never pass."""

import pytest

from soakproof.judge import Outcome
from soakproof.records import Failure, KernelEvent
from soakproof.testing.evidence import adjudicate, event, evidence, exchange, kernel, sample, trace

SERVER = {"launch_command": ["/opt/bin/llama-server", "-m", "m.gguf"], "backend_pid": 4242}
READ = sample("kernel_log", 0.0)


def ring_timeout(at: float = 12.0, *, process: str | None, pid: int | None) -> list[KernelEvent]:
    """One incident: the timeout, the line that names the process, and a reset that "succeeded"."""
    lines = [
        (
            "ring gfx_0.0.0 timeout, signaled seq=2662395, emitted seq=2662397",
            "ring_timeout",
            "fatal",
            None,
            None,
        ),
        (" Process code pid 1048641 thread code:cs0 pid 1048662", None, None, process, pid),
        ("GPU reset succeeded, trying to resume", "gpu_reset", "fatal", process, pid),
    ]
    return [
        kernel(
            f"amdgpu 0000:c5:00.0: amdgpu: {text}",
            at + n / 10,
            incident=1,
            signature="A1" if severity else None,
            fault_class=fault_class,
            severity=severity,
            process=name,
            pid=number,
        )
        for n, (text, fault_class, severity, name, number) in enumerate(lines)
    ]


def test_a_quiet_log_passes_and_says_what_it_cannot_show() -> None:
    harmless = kernel("usb 1-2: reset high-speed USB device number 3 using xhci_hcd", 3.0)
    found = adjudicate("kernel", evidence(READ, harmless), required=True)
    assert found["kernel log"].outcome is Outcome.PASS
    assert "1 line" in found["kernel log"].answer
    assert "leave no line" in found["kernel log"].strength


@pytest.mark.parametrize(
    ("process", "pid"), [("llama-server", None), (None, 4242), ("something", 9000), ("llama-server", 9000)]
)
def test_a_fault_of_the_server_fails_and_names_process_and_line(process: str | None, pid: int | None) -> None:
    processes = trace("process:backend", 5, pid=9000, name="something")
    run = evidence(READ, ring_timeout(process=process, pid=pid), processes, target=SERVER)
    found = adjudicate("kernel", run)
    incident = found["incident 1"]
    assert incident.outcome is Outcome.FAIL
    assert incident.fault == "backend"
    assert str(pid or process) in incident.answer
    assert "ring gfx_0.0.0 timeout" in incident.answer
    assert incident.span == pytest.approx((12.0, 12.2))
    assert "kernel log" not in found


@pytest.mark.parametrize(
    ("beside", "outcome"),
    [
        ([], Outcome.INCONCLUSIVE),
        ([event("restart", 13.0, role="backend", was_pid=4242, is_pid=4243)], Outcome.FAIL),
        ([exchange("x", at=20.0, outcome="fail", failure=Failure.RESET)], Outcome.FAIL),
        ([exchange("x", at=200.0, outcome="fail", failure=Failure.RESET)], Outcome.INCONCLUSIVE),
    ],
)
def test_a_process_of_the_servers_name_and_another_pid_convicts_where_the_server_was_hurt(
    beside: list[object], outcome: Outcome
) -> None:
    """It is a thread of the server's, or a second server beside it."""
    run = evidence(READ, ring_timeout(process="llama-server", pid=77), beside, target=SERVER)
    assert adjudicate("kernel", run)["incident 1"].outcome is outcome


def test_reset_succeeded_is_a_fault_all_the_same() -> None:
    recovered = kernel("GPU reset succeeded", 1.0, incident=4, fault_class="gpu_reset", severity="fatal")
    assert adjudicate("kernel", evidence(READ, recovered))["incident 1"].outcome is Outcome.FAIL


def test_a_fault_of_another_program_contaminates_and_does_not_convict() -> None:
    run = evidence(READ, ring_timeout(process="code", pid=1048641), target=SERVER)
    incident = adjudicate("kernel", run)["incident 1"]
    assert incident.outcome is Outcome.INCONCLUSIVE
    assert incident.fault == "host"
    assert "host was contaminated" in incident.answer
    assert "code" in incident.answer


def test_an_out_of_memory_kill_names_the_servers_process_even_after_a_restart() -> None:
    killed = kernel(
        "Out of memory: Killed process 4100 (python3) total-vm:141312000kB",
        30.0,
        incident=1,
        fault_class="oom",
        severity="fatal",
        process="python3",
        pid=4100,
    )
    restart = event("restart", 31.0, role="backend", was_pid=4100, is_pid=4200)
    incident = adjudicate("kernel", evidence(READ, killed, restart))["incident 1"]
    assert incident.outcome is Outcome.FAIL
    assert "python3" in incident.answer
    assert "oom" in incident.answer


def test_a_fault_that_names_nobody_counts_against_the_run() -> None:
    found = adjudicate("kernel", evidence(READ, ring_timeout(process=None, pid=None)))
    assert found["incident 1"].outcome is Outcome.FAIL
    assert "no process is named" in found["incident 1"].answer


@pytest.mark.parametrize(
    "source",
    [[], [sample("kernel_log", 0.0, state="denied", reason="Operation not permitted")]],
    ids=["none", "denied"],
)
def test_a_log_that_was_not_read_is_a_note_or_where_required_inconclusive(source: list[object]) -> None:
    lenient = adjudicate("kernel", evidence(source))["kernel log"]
    strict = adjudicate("kernel", evidence(source), required=True)["kernel log"]
    assert lenient.outcome is strict.outcome is Outcome.INCONCLUSIVE
    assert not lenient.critical
    assert strict.critical
    assert "no lines is not health" in strict.answer


def test_a_log_that_was_lost_half_way_is_not_a_quiet_one() -> None:
    lost = sample("kernel_log", 40.0, state="error", reason="ENODEV")
    found = adjudicate("kernel", evidence(READ, lost), required=True)
    assert found["kernel log"].outcome is Outcome.INCONCLUSIVE
    assert "ENODEV" in found["kernel log"].answer


def test_a_gap_decides_even_where_the_log_is_not_required() -> None:
    found = adjudicate("kernel", evidence(READ, kernel("something harmless", 9.0, gap=17)))
    assert found["gaps"].outcome is Outcome.INCONCLUSIVE
    assert found["gaps"].critical
    assert "17" in found["gaps"].answer


def enomem(count: int, every: float) -> list[KernelEvent]:
    return [
        kernel(
            "amdgpu: Not enough memory for command submission!",
            n * every,
            incident=1,
            fault_class="cs_enomem",
            severity="warn",
        )
        for n in range(count)
    ]


def test_lines_that_only_inform_are_no_fault_however_many() -> None:
    lines = [kernel("Freeing queue vital buffer", n, incident=2, severity="info") for n in range(30)]
    assert adjudicate("kernel", evidence(READ, lines))["kernel log"].outcome is Outcome.PASS


def test_few_warnings_are_told_and_many_a_minute_are_a_fault() -> None:
    few = adjudicate("kernel", evidence(READ, enomem(5, 2.0)))
    assert few["warnings"].outcome is Outcome.PASS
    assert not few["warnings"].critical
    many = adjudicate("kernel", evidence(READ, enomem(12, 2.0)))
    assert many["incident 1"].outcome is Outcome.FAIL
    slow = adjudicate("kernel", evidence(READ, enomem(12, 9.0)))
    assert slow["warnings"].outcome is Outcome.PASS


def one(
    message: str, fault_class: str, severity: str, name: str | None = None, pid: int | None = None
) -> KernelEvent:
    return kernel(
        message, 12.0, incident=1, fault_class=fault_class, severity=severity, process=name, pid=pid
    )


@pytest.mark.parametrize(
    ("message", "fault_class", "severity"),
    [
        ("mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 4: a600000000020408", "machine_check", "fatal"),
        ("EXT4-fs (nvme0n1p2): Remounting filesystem read-only", "filesystem", "fail"),
        ("thermal thermal_zone0: acpitz: critical temperature reached", "thermal", "fatal"),
        ("AMD-Vi: Completion-Wait loop timed out", "iommu", "fail"),
    ],
)
def test_hardware_that_failed_contaminates_and_convicts_nobody(
    message: str, fault_class: str, severity: str
) -> None:
    incident = adjudicate("kernel", evidence(READ, one(message, fault_class, severity)))["incident 1"]
    assert (incident.outcome, incident.fault) == (Outcome.INCONCLUSIVE, "host")
    assert "no verdict on its software" in incident.answer


@pytest.mark.parametrize(("lines", "outcome"), [(9, Outcome.PASS), (10, Outcome.INCONCLUSIVE)])
def test_a_device_that_is_not_the_gpu_and_reaches_astray_convicts_nobody(
    lines: int, outcome: Outcome
) -> None:
    astray = one("xhci_hcd 0000:02:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x000f]", "iommu", "warn")
    found = adjudicate("kernel", evidence(READ, [astray] * lines))
    assert {f.outcome for f in found.values()} == {outcome}


def test_a_kernel_that_fails_is_part_of_what_is_tested() -> None:
    oops = one("BUG: kernel NULL pointer dereference, address: 0000000000000008", "kernel_oops", "fatal")
    incident = adjudicate("kernel", evidence(READ, oops))["incident 1"]
    assert incident.outcome is Outcome.FAIL
    assert "of the host failed or hung" in incident.answer


def test_hardware_beside_a_fault_of_the_gpu_is_the_gpus_fault() -> None:
    bus = one("PCIe Bus Error: severity=Uncorrected (Fatal)", "pcie", "fail")
    lost = one("amdgpu: device lost from bus!", "bus_loss", "fatal")
    assert adjudicate("kernel", evidence(READ, bus, lost))["incident 1"].outcome is Outcome.FAIL


def test_a_crash_counts_only_where_it_is_the_servers_own() -> None:
    def crash(name: str, pid: int) -> KernelEvent:
        return one(
            f"{name}[{pid}]: segfault at 18 ip 00 sp 00 error 4 in x.so", "segfault", "warn", name, pid
        )

    ours = adjudicate("kernel", evidence(READ, crash("llama-server", 4242), target=SERVER))
    assert (ours["incident 1"].outcome, ours["incident 1"].fault) == (Outcome.FAIL, "backend")
    theirs = adjudicate("kernel", evidence(READ, crash("gnome-shell", 78), target=SERVER))
    assert {name: f.outcome for name, f in theirs.items()} == {
        "kernel log": Outcome.PASS,
        "warnings": Outcome.PASS,
    }
