"""Reading the kernel's log: real files, a FIFO, this machine's own log, a follower in the journal's place."""

import os
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio

from soakproof.clock import RunClock
from soakproof.records import KernelEvent, Sample
from soakproof.run import NodeWriter, read_records
from soakproof.watch import kernel_source
from soakproof.watch.kernel_log import Line
from soakproof.watch.kernel_source import KernelLog, Kmsg, open_kernel_log
from soakproof.watch.recorder import Recorder
from soakproof.watch.source import Reading

NO_JOURNAL = ("/nonexistent/journalctl",)
FAULT = "amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads as Linux does")


def within(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with trio.fail_after(20):
            await test()

    trio.run(bounded)


async def messages(log: KernelLog, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        found += [line.message for line, _ in await log.next()]
    return found


def append(path: Path, *lines: str) -> None:
    with path.open("a") as file:
        file.writelines(f"{line}\n" for line in lines)


def test_another_device_in_its_place_is_no_kernel_log() -> None:
    async def opened() -> None:
        log, state = await open_kernel_log("/dev/null", NO_JOURNAL)
        assert log is None
        assert "another device" in state.reason

    within(opened)


def test_a_file_in_its_place_is_read_from_its_end(tmp_path: Path) -> None:
    kmsg = tmp_path / "kmsg"
    append(kmsg, "4,1,1,-;before the start")

    async def follow() -> None:
        log, state = await open_kernel_log(str(kmsg), NO_JOURNAL)
        assert (state.state, state.values) == ("value", {"via": str(kmsg)})
        assert log is not None
        append(kmsg, "4,2,2,-;first", " SUBSYSTEM=pci", "6,3,3,-;second")
        assert await messages(log, 2) == ["first", "second"]
        append(kmsg, "4,4,4,-;third")
        assert await messages(log, 1) == ["third"]
        log.close()

    within(follow)


def test_a_fifo_whose_writer_comes_and_goes(tmp_path: Path) -> None:
    fifo = tmp_path / "kmsg"
    os.mkfifo(fifo)

    async def follow() -> None:
        log = Kmsg(str(fifo))
        for number in (1, 2):
            await trio.to_thread.run_sync(append, fifo, f"4,{number},1,-;line {number}")
            assert await messages(log, 1) == [f"line {number}"]
        log.close()

    within(follow)


@pytest.mark.skipif(
    not os.access("/dev/kmsg", os.R_OK | os.W_OK), reason="needs the right to read the kernel's log"
)
def test_this_machines_own_log() -> None:
    text = f"soakproof's test of pid {os.getpid()}"

    async def follow() -> None:
        log = Kmsg("/dev/kmsg")
        Path("/dev/kmsg").write_text(
            f"<3>{text}\n"
        )  # level 3, and as the kernel sees to it, not its facility
        while True:
            lines = [line for line, _ in await log.next() if line.message == text]
            if lines:
                break
        assert lines[0].facility != 0
        assert lines[0].level == 3
        log.close()

    within(follow)


def test_records_overwritten_before_they_were_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making the kernel lose records would cost this machine its log: only the read's answer is played."""
    kmsg = tmp_path / "kmsg"
    append(kmsg)
    log = Kmsg(str(kmsg))
    answers: list[bytes | OSError] = [b"4,7,1,-;a\n", BrokenPipeError(), b"4,90,1,-;b\n", BlockingIOError()]

    def read(_descriptor: int, _size: int) -> bytes:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(os, "read", read)
    lines = log._drain()
    monkeypatch.undo()
    assert [(line.sequence, lost) for line, lost in lines] == [(7, 0), (90, 82)]
    log.close()


def follower(tmp_path: Path, script: str) -> tuple[str, ...]:
    """A program that behaves as ``journalctl --follow`` does."""
    path = tmp_path / "journalctl"
    path.write_text(f"#!{sys.executable}\nimport json, sys, time\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return (str(path),)


SAY = """
def say(message, at):
    record = {"MESSAGE": message, "SYSLOG_FACILITY": "0", "__MONOTONIC_TIMESTAMP": str(at)}
    print(json.dumps(record), flush=True)
"""


def test_the_journal_where_kmsg_is_denied(tmp_path: Path) -> None:
    later = time_after_now()
    script = f"{SAY}\nsay('old', 5)\nsay('{FAULT}', {later})\ntime.sleep(60)"

    async def follow() -> None:
        log, state = await open_kernel_log("/nonexistent/kmsg", follower(tmp_path, script))
        assert state.state == "value"
        assert state.values["gaps"] == "not visible"
        assert "kmsg" in state.reason
        assert log is not None
        assert await messages(log, 1) == [FAULT]  # the old one is from before the start
        log.close()

    within(follow)


def time_after_now() -> int:
    return RunClock(0).now() // 1000 + 3_600_000_000


@pytest.mark.parametrize("script", ["sys.exit(1)", "time.sleep(60)"])
def test_blind_says_what_to_do(tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_source, "_JOURNAL_BOUND_S", 0.3)

    async def look() -> None:
        for journal in (NO_JOURNAL, follower(tmp_path, script)):
            log, state = await open_kernel_log("/nonexistent/kmsg", journal)
            assert log is None
            assert state.state == "denied"
            assert "/nonexistent/kmsg" in state.reason
            assert "--cap-add SYSLOG" in state.reason

    within(look)


def test_a_journal_that_ends_says_so(tmp_path: Path) -> None:
    async def follow() -> None:
        log, _ = await open_kernel_log("/nonexistent/kmsg", follower(tmp_path, f"{SAY}\nsay('old', 5)"))
        assert log is not None
        with pytest.raises(EOFError):
            await messages(log, 1)
        log.close()

    within(follow)


class Recorded:
    """A recorder with a real node's folder."""

    def __init__(self, run: Path) -> None:
        self.writer = NodeWriter(run, "watch")
        self.recorder = Recorder(self.writer, RunClock.start())

    def kernel(self) -> list[KernelEvent]:
        found = list(read_records(self.writer.folder / "kernel.jsonl"))
        return [event for event in found if isinstance(event, KernelEvent)]

    def samples(self) -> list[Sample]:
        found = list(read_records(self.writer.folder / "samples.jsonl"))
        return [sample for sample in found if isinstance(sample, Sample)]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_what_user_space_writes_there_does_not_count(recorded: Recorded) -> None:
    recorded.recorder.kernel(
        [(Line(FAULT, sequence=1, facility=1), 0), (Line(FAULT, sequence=2, facility=0), 0)]
    )
    (event,) = recorded.kernel()
    assert (event.sequence, event.signature, event.incident) == (2, "A4", 1)


def test_a_gap_before_a_line_of_user_space_is_kept(recorded: Recorded) -> None:
    recorded.recorder.kernel([(Line("chatter", sequence=9, facility=3), 4)])
    (event,) = recorded.kernel()
    assert (event.gap, event.message) == (4, "")


def test_a_chatty_kernel_is_bounded_and_its_faults_are_not(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soakproof.watch.recorder._ORDINARY_LIMIT", 10)
    recorded.recorder.kernel([(Line("usb 1-2: chatter", sequence=n, facility=0), 0) for n in range(50)])
    recorded.recorder.kernel([(Line(FAULT, sequence=51, facility=0), 0)])
    assert len(recorded.kernel()) == 11
    assert recorded.kernel()[-1].signature == "A4"
    assert recorded.recorder.lines_not_kept == 40


def test_unsupported_is_said_once_until_it_changes(recorded: Recorded) -> None:
    unsupported = Reading("amdgpu", "unsupported", reason="none")
    for reading in (unsupported, unsupported, Reading("amdgpu"), unsupported, Reading("amdgpu", "timeout")):
        recorded.recorder.reading(reading, 0, 0)
    recorded.recorder.reading(Reading("amdgpu", "timeout"), 0, 0)
    assert [s.state for s in recorded.samples()] == [
        "unsupported",
        "value",
        "unsupported",
        "timeout",
        "timeout",
    ]
    assert recorded.recorder.states["amdgpu"]["unsupported"] == 3
