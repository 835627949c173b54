"""Sources that hang, refuse or cannot be read: a state with a reason, and never health."""

import errno
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from caseinputs import INPUTS
from judged import of, verdict

from soakproof.judge import Outcome
from soakproof.judge.notproven import not_proven
from soakproof.report import terminal_table
from soakproof.testing.evidence import adjudicate, evidence, kernel, sample
from soakproof.watch import amdgpu
from soakproof.watch.amdgpu import AmdGpu
from soakproof.watch.files import read_text
from soakproof.watch.kernel_log import KmsgStream
from soakproof.watch.kernel_source import open_kernel_log
from soakproof.watch.memory import Memory
from soakproof.watch.source import Reading, read_bounded

GFX1151 = INPUTS.parents[1] / "watch" / "trees" / "gfx1151"
D_STATE = json.loads((INPUTS / "67-tool-in-d-state.json").read_text())
OPENING = json.loads((INPUTS / "68-kmsg-open-error.json").read_text())
DENIED = (INPUTS / "68-dmesg-denied.stderr.txt").read_text().strip()


@pytest.fixture
def after_the_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A card of which one file refuses and another never answers, as the case tells."""
    tree = tmp_path / "sys"
    shutil.copytree(GFX1151 / "sys", tree)
    device = tree / "class/drm/card1/device"

    def refusing(path: Path) -> str:
        told = D_STATE["sysfs_reads"].get(path.name, "")
        if "EBUSY" in told:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        return read_text(path)

    monkeypatch.setattr(amdgpu, "read_text", refusing)
    for name, told in D_STATE["sysfs_reads"].items():
        if "blocks" in told:
            (device / name).unlink()
            os.mkfifo(device / name)  # nobody ever writes
    return tree


@pytest.mark.case(67)
def test_a_hung_source_is_marked_and_holds_up_neither_the_others_nor_the_exit(after_the_fault: Path) -> None:
    started = time.monotonic()
    found: list[Reading] = []
    threads: list[int] = []

    async def ticks() -> None:
        gpu, memory = AmdGpu(str(after_the_fault)), Memory(f"{GFX1151}/proc")
        for _ in range(8):
            for reading in (*await read_bounded(memory), *await read_bounded(gpu)):
                assert isinstance(reading, Reading)
                found.append(reading)
            threads.append(len(os.listdir("/proc/self/task")))

    trio.run(ticks)  # comes back although a thread of its own still hangs
    assert time.monotonic() - started < 20
    memory = [r.state for r in found if r.source == "memory"]
    gpu = [r for r in found if r.source == "amdgpu:card1"]
    assert memory == ["value"] * 8
    assert [r.state for r in gpu] == ["timeout"] * 8
    assert "hanging" in gpu[-1].reason
    assert threads[1:] == threads[1:2] * 7  # no second thread for what the first still waits for


@pytest.mark.case(67)
def test_a_busy_file_is_a_reason_and_not_0(after_the_fault: Path) -> None:
    hung = after_the_fault / "class/drm/card1/device/mem_info_gtt_used"
    hung.unlink()
    hung.write_text("78")
    (reading,) = trio.run(read_bounded, AmdGpu(str(after_the_fault)))
    assert isinstance(reading, Reading)
    assert (reading.state, reading.values["busy_percent"]) == ("value", None)
    assert "gpu_busy_percent" in reading.reason


@pytest.mark.case(67)
def test_no_tool_of_the_vendor_is_ever_run() -> None:
    watch = INPUTS.parents[2] / "src/soakproof/watch"
    sources = "".join(path.read_text() for path in watch.glob("*.py"))
    assert D_STATE["command"][0] not in sources
    assert sources.count("Popen(") == 1  # the journal's follower


ERRORS = [OPENING["name"], *(name for name in OPENING["also_seen"] if name.isalpha())]


@pytest.fixture(params=ERRORS)
def refused(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Opening the kernel's log fails with each of the errors that were seen."""
    number: int = getattr(errno, request.param)
    real = os.open

    def refuse(path: Any, *arguments: Any, **more: Any) -> int:
        if path == OPENING["path"]:
            raise OSError(number, os.strerror(number), path)
        return real(path, *arguments, **more)

    monkeypatch.setattr(os, "open", refuse)
    return number


@pytest.mark.case(68)
def test_a_log_that_cannot_be_read_is_denied_with_what_to_do_and_no_pass_hides_it(refused: int) -> None:
    log, state = trio.run(open_kernel_log, OPENING["path"], ("/nonexistent/journalctl",))
    assert log is None
    assert state.state == "denied"
    assert os.strerror(refused) in state.reason
    assert "--cap-add SYSLOG" in state.reason
    blind = evidence(sample("kernel_log", 0.0, state=state.state, reason=state.reason))
    lenient, strict = verdict(blind), verdict(blind, policy="release")
    for judged, critical in ((lenient, False), (strict, True)):
        found = of(judged, "kernel", "kernel log")
        assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, critical)
        assert "no lines is not health" in found.answer
        assert "kernel log" in terminal_table(judged)
    assert any("kernel log could not be read" in told for told in not_proven(blind, None))


@pytest.mark.case(68)
def test_the_words_of_the_kernel_are_the_ones_that_are_told() -> None:
    assert DENIED.endswith(os.strerror(errno.EPERM))


@pytest.mark.case(68)
def test_a_log_that_overran_has_a_gap_which_no_pass_hides() -> None:
    assert any(told.startswith("EPIPE") for told in OPENING["also_seen"])
    stream = KmsgStream()
    before: Sequence[Any] = stream.feed(b"6,10,1,-;before\n")
    stream.overrun()
    ((line, lost),) = stream.feed(b"6,73,2,-;after\n")
    assert (len(before), lost) == (1, 62)
    run = evidence(sample("kernel_log", 0.0, via="/dev/kmsg"), kernel(line.message, 5.0, gap=lost))
    gaps = adjudicate("kernel", run)["gaps"]
    assert (gaps.outcome, gaps.critical) == (Outcome.INCONCLUSIVE, True)
    assert "62 lines" in gaps.answer
