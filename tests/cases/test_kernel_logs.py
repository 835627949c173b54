"""Kernel logs of the cases: kills for memory, GPUs that hung and were reset, faults of another program."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st
from judged import fails, of, verdict
from kernel_lines import CATALOGUE, HOSTS, Host, dmesg, journalled, kmsg, recorded

from soakproof.clock import RunClock
from soakproof.judge import Evidence, Outcome
from soakproof.records import Exchange, Failure, KernelEvent
from soakproof.run import NodeWriter, read_records
from soakproof.testing.evidence import adjudicate, evidence, exchange, sample
from soakproof.watch.kernel_log import Line
from soakproof.watch.recorder import Recorder

READ = sample("kernel_log", 0.0, via="/dev/kmsg")
GPU, OWN = "exchanges: reset", "incident 1"


def victims(at: float = 10.5, n: int = 3) -> list[Exchange]:
    """Streams that broke when the server went down."""
    return [
        exchange(
            f"victim-{k}", at=at - 5, took=5, outcome="fail", failure=Failure.RESET, seed=k, reason="reset"
        )
        for k in range(n)
    ]


def run_with(lines: Sequence[KernelEvent], *more: Exchange) -> Evidence:
    return evidence(READ, lines, more)


@pytest.mark.case(55)
@pytest.mark.parametrize(
    ("name", "pid", "gib"), [("55-oom-global.kmsg", 4242, 9.0), ("55-oom-memcg.kmsg", 77, 5.913)]
)
@given(host=HOSTS)
@settings(max_examples=8)
def test_a_kill_for_memory_names_process_and_size_and_explains_the_resets(
    name: str, pid: int, gib: float, host: Host
) -> None:
    lines = recorded(host.of(kmsg(name), pid))
    judged = verdict(run_with(lines, *victims()))
    found = of(judged, "kernel", OWN)
    assert found.outcome is Outcome.FAIL
    assert f"llama-server (pid {host.pid})" in found.answer
    assert {f.name: f.value for f in found.figures}["anonymous memory"] == gib
    assert "anon-rss" in found.answer
    assert "memory ran out" in found.answer
    resets = of(judged, "functional", GPU).answer
    assert "Of them 3 when memory ran out (kernel log at 10.0 s)" in resets
    assert lines[-1].incident == 1  # the reaper's line included


@pytest.mark.case(55)
def test_a_kill_of_somebody_else_is_not_held_against_the_server() -> None:
    lines = [
        Line(line.message.replace("Killed process 4242 (llama-server)", "Killed process 9 (chrome)"))
        for line in kmsg("55-oom-global.kmsg")
        if "Killed process" in line.message
    ]
    found = adjudicate("kernel", run_with(recorded(lines)))[OWN]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "chrome" in found.answer
    both = [*lines, *kmsg("55-oom-global.kmsg")]
    assert adjudicate("kernel", run_with(recorded(both)))[OWN].outcome is Outcome.FAIL


def written(tmp_path: Path, lines: Sequence[Line]) -> list[KernelEvent]:
    """What the watch writes of lines of the log."""
    writer = NodeWriter(tmp_path, "watch")
    Recorder(writer, RunClock.start()).kernel([(line, 0) for line in lines])
    path = writer.folder / "kernel.jsonl"
    found = read_records(path) if path.exists() else ()
    return [event for event in found if isinstance(event, KernelEvent)]


@pytest.mark.case(55, 61, 62, 65)
@pytest.mark.parametrize(
    "name",
    [
        "55-oom.journal.txt",
        "61-userland.server-log.txt",
        "62-userland.server-log.txt",
        "65-command-submission.server-log.txt",
    ],
)
def test_what_user_space_says_of_it_is_no_evidence(name: str, tmp_path: Path) -> None:
    """The kernel's own lines carry each verdict here; anybody can write such lines."""
    said = [Line(text) for text in (INPUTS / name).read_text().split("\n") if text]
    assert not any(CATALOGUE.match(line.message) for line in said)
    assert written(tmp_path, journalled(said, facility=3)) == []


@pytest.mark.case(61)
@given(host=HOSTS)
@settings(max_examples=10)
def test_a_page_fault_and_what_follows_is_one_incident_of_the_server(host: Host) -> None:
    lines = recorded(host.of(kmsg("61-pagefault-mes-reset.kmsg"), 4242))
    judged = verdict(run_with(lines, *victims()))
    found = of(judged, "kernel", OWN)
    assert found.outcome is Outcome.FAIL
    assert not any(f.subject == "incident 2" for f in judged.findings)
    assert f"llama-server (pid {host.pid})" in found.answer
    for told in ("3 x gpu_page_fault", "2 x mes", "2 x gpu_reset", "10.0 to 10.2 s", "[gfxhub] page fault"):
        assert told in found.answer
    assert "when the GPU hung or faulted" in of(judged, "functional", GPU).answer
    assert len(lines) == 20  # every raw line is kept


@pytest.mark.case(61)
def test_the_older_wording_of_a_reset_matches() -> None:
    begin = next(k.message for k in kmsg("61-pagefault-mes-reset.kmsg") if "begin" in k.message)
    assert begin.endswith("GPU reset begin!. Source:  3")
    match = CATALOGUE.match(begin)
    assert match is not None
    assert match.signature.fault_class == "gpu_reset"


@pytest.mark.case(62)
@given(host=HOSTS, repeats=st.integers(1, 6), apart=st.floats(0.5, 9))
@settings(max_examples=10)
def test_a_ring_reset_that_succeeded_is_a_failure_and_its_repeats_are_one_incident(
    host: Host, repeats: int, apart: float
) -> None:
    once = host.of(kmsg("62-ring-reset-recovered.kmsg"), 25263)
    lines = recorded(once * repeats, apart=apart / len(once))
    judged = verdict(run_with(lines, *victims()))
    assert {"kernel incident 1", "functional victims 1"} <= fails(judged)
    found = of(judged, "kernel", OWN)
    assert f"llama-server (pid {host.pid})" in found.answer
    assert f"{repeats} x ring_reset," in found.answer
    assert not any(f.subject == "incident 2" for f in judged.findings)


@pytest.mark.case(62)
def test_both_tools_that_print_the_lines_give_the_same_records() -> None:
    by_kmsg, by_dmesg = (
        [(k.signature, k.severity, k.incident, k.process, k.pid) for k in recorded(lines)]
        for lines in (kmsg("62-ring-reset-recovered.kmsg"), dmesg("62-ring-reset-recovered.dmesg-T.txt"))
    )
    assert by_kmsg == by_dmesg


def exception_follows(name: str) -> str:
    """The line before the exception in a server's own log."""
    before, _ = (INPUTS / name).read_text().split("terminate called")
    return before.strip()


@pytest.mark.case(65)
@pytest.mark.parametrize("refusals", [1, 5, 30])
def test_a_lost_device_is_of_memory_or_of_a_hang_by_the_line_before_it(refusals: int) -> None:
    said = exception_follows("65-command-submission.server-log.txt")
    (line,) = kmsg("65-command-submission.kmsg")
    assert line.message.endswith("Not enough memory for command submission!")
    assert "Not enough memory for command submission" in said
    memory = verdict(run_with(recorded([line] * refusals), *victims()))
    hang = verdict(run_with(recorded(kmsg("62-ring-reset-recovered.kmsg")), *victims()))
    assert "when memory ran out" in of(memory, "functional", GPU).answer
    assert "when the GPU hung or faulted" in of(hang, "functional", GPU).answer
    subject = "warnings" if refusals < 10 else OWN
    assert "less context" in of(memory, "kernel", subject).answer
    assert "driver, firmware and kernel" in of(hang, "kernel", OWN).answer


OTHERS = st.from_regex(r"[a-z][a-z0-9:_-]{1,14}", fullmatch=True).filter(
    lambda name: not name.startswith(("llama", "lemon"))
)


@pytest.mark.case(66)
@given(host=HOSTS, name=OTHERS)
@settings(max_examples=10)
def test_a_fault_of_another_program_contaminates_the_host(host: Host, name: str) -> None:
    lines = [
        Line(re.sub(r"Process code pid", f"Process {name} pid", k.message))
        for k in host.of(kmsg("66-other-process-guilty.kmsg"), 1048641)
    ]
    judged = verdict(run_with(recorded(lines), *victims()))
    assert fails(judged) == set()
    assert judged.outcome is Outcome.INCONCLUSIVE
    found = of(judged, "kernel", OWN)
    assert (found.outcome, found.fault, found.critical) == (Outcome.INCONCLUSIVE, "host", True)
    assert (
        f"{name} (pid {host.pid}), which is none of the server's: the host was contaminated" in found.answer
    )
    resets = of(judged, "functional", GPU)
    assert (resets.outcome, resets.fault) == (Outcome.INCONCLUSIVE, "host")
    assert f"of {name}" in resets.answer


@pytest.mark.case(66)
def test_who_is_named_first_made_the_fault_and_whoever_follows_suffers_it() -> None:
    guilty = kmsg("66-other-process-guilty.kmsg")
    ours = kmsg("62-ring-reset-recovered.kmsg")
    assert adjudicate("kernel", run_with(recorded([*guilty, *ours])))[OWN].outcome is Outcome.INCONCLUSIVE
    assert adjudicate("kernel", run_with(recorded([*ours, *guilty])))[OWN].outcome is Outcome.FAIL


@pytest.mark.case(66)
def test_a_reset_that_failed_is_graver_than_one_that_succeeded() -> None:
    def reset(name: str) -> tuple[str | None, str | None]:
        event = next(
            k for k in recorded(kmsg(name)) if "ring reset" not in k.message and "Ring " in k.message
        )
        return event.fault_class, event.severity

    assert reset("66-other-process-guilty.kmsg") == ("ring_reset_failed", "fatal")
    assert reset("62-ring-reset-recovered.kmsg") == ("ring_reset", "fail")
