"""Memory, pressure and GPU sources on written trees, on this machine, and on files that hang."""

import errno
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from caseinputs import INPUTS

from soakproof.watch.amdgpu import AmdGpu, active_profile
from soakproof.watch.memory import Memory, Pressure, parse_meminfo, parse_pressure
from soakproof.watch.source import BlockingReader, HungError, Reading, Source, read_bounded, refusal

HERE = Path(__file__).parent
GFX1151, NONE = HERE / "trees" / "gfx1151", HERE / "trees" / "none"


def read(source: Source) -> Sequence[Any]:
    return trio.run(read_bounded, source)


def test_memory() -> None:
    (reading,) = read(Memory(f"{GFX1151}/proc"))
    assert reading.state == "value"
    assert reading.values == {
        "available_bytes": 21000000 * 1024,
        "total_bytes": 131000000 * 1024,
        "free_bytes": 2500000 * 1024,
        "cached_bytes": 19000000 * 1024,
        "shmem_bytes": 300000 * 1024,
        "dirty_bytes": 64 * 1024,
        "swap_total_bytes": 8000000 * 1024,
        "swap_used_bytes": 1000000 * 1024,
    }


def test_what_the_kernel_does_not_tell_is_none_and_not_0() -> None:
    (reading,) = read(Memory(f"{NONE}/proc"))
    assert reading.state == "value"
    assert reading.values["available_bytes"] is None
    assert reading.values["swap_used_bytes"] is None


def test_contradicting_figures_of_a_container_are_kept_as_they_are() -> None:
    figures = json.loads((INPUTS / "56-uma-numbers.json").read_text())
    assert parse_meminfo(figures["container_meminfo"])["available_bytes"] == 68157440 * 1024
    assert parse_meminfo(figures["host_meminfo"])["available_bytes"] == 21000000 * 1024
    assert parse_meminfo(figures["container_meminfo"])["swap_used_bytes"] is None


def test_a_file_that_is_no_meminfo(tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("garbage\n")
    (reading,) = read(Memory(str(tmp_path)))
    assert (reading.state, reading.values) == ("error", {})
    (reading,) = read(Memory(f"{tmp_path}/nowhere"))
    assert reading.state == "unsupported"
    assert "meminfo" in reading.reason


def test_pressure() -> None:
    (reading,) = read(Pressure(f"{GFX1151}/proc"))
    assert reading.values["memory_some_avg10_percent"] == 1.5
    assert reading.values["memory_full_total_us"] == 23456
    assert reading.values["cpu_some_avg10_percent"] == 12.0
    (reading,) = read(Pressure(f"{NONE}/proc"))
    assert reading.state == "unsupported"
    assert parse_pressure("cpu", "some avg10=nan total=1")["cpu_some_avg10_percent"] is None
    assert parse_pressure("cpu", "some avg10=0.50") == {
        "cpu_some_avg10_percent": 0.5,
        "cpu_some_total_us": None,
    }


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_this_machine() -> None:
    (reading,) = read(Memory("/proc"))
    assert 0 < reading.values["available_bytes"] <= reading.values["total_bytes"]


def test_an_amd_gpu_and_only_that() -> None:
    (reading,) = read(AmdGpu(f"{GFX1151}/sys"))
    assert (reading.source, reading.state, reading.reason) == ("amdgpu:card1", "value", "")
    assert reading.values == {
        "gtt_used_bytes": 21474836480,
        "gtt_total_bytes": 103079215104,
        "vram_used_bytes": 400000000,
        "vram_total_bytes": 536870912,
        "busy_percent": 97,
        "power_watts": 54.321,
        "temperature_celsius": 61.0,
        "gpu_clock_hz": 2900000000,
        "memory_clock_hz": None,
        "edge_celsius": 61.0,
        "junction_celsius": None,
        "vram_celsius": None,
        "performance_level": "auto",
        "power_profile": None,
    }


def test_a_card_of_its_own() -> None:
    (reading,) = read(AmdGpu(f"{HERE}/trees/navi31/sys"))
    values = reading.values
    assert (reading.source, reading.state, reading.reason) == ("amdgpu:card0", "value", "")
    assert (values["vram_used_bytes"], values["memory_clock_hz"]) == (20937965568, 1249000000)
    assert (values["edge_celsius"], values["junction_celsius"], values["vram_celsius"]) == (62.0, 84.0, 78.0)
    assert (values["performance_level"], values["power_profile"]) == ("auto", "COMPUTE")


def test_the_profile_with_the_star() -> None:
    assert active_profile(" 0 BOOTUP_DEFAULT*\n 1 3D_FULL_SCREEN\n") == "BOOTUP_DEFAULT"
    columns = "     0 BOOTUP_DEFAULT  1 3D_FULL_SCREEN* 5 COMPUTE       "
    assert active_profile(columns) == "3D_FULL_SCREEN"
    assert active_profile("  4             VR :\n  5        COMPUTE*:\n") == "COMPUTE"
    assert active_profile("5 COMPUTE       * 6 CUSTOM          ") == "COMPUTE"
    assert active_profile("") is None


@pytest.mark.parametrize("root", [f"{NONE}/sys", "/nonexistent"])
def test_no_amd_gpu(root: str) -> None:
    (reading,) = read(AmdGpu(root))
    assert (reading.source, reading.state) == ("amdgpu", "unsupported")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the written sysfs with a second AMD card."""
    root = tmp_path / "sys"
    shutil.copytree(GFX1151 / "sys", root)
    shutil.copytree(root / "class/drm/card1", root / "class/drm/card2")
    return root


def hang(file: Path) -> None:
    """A FIFO without a writer: opening it blocks, as a file of a hung driver does."""
    file.unlink()
    os.mkfifo(file)


def test_a_hung_file_is_a_timeout_and_keeps_what_was_read_before_it(tree: Path) -> None:
    hang(tree / "class/drm/card2/device/gpu_busy_percent")
    well, hung = read(AmdGpu(str(tree)))
    assert (well.source, well.state) == ("amdgpu:card1", "value")
    assert (hung.source, hung.state) == ("amdgpu:card2", "timeout")
    assert hung.values["gtt_used_bytes"] == 21474836480
    assert "busy_percent" not in hung.values
    assert "gpu_busy_percent" in hung.reason


def test_no_second_thread_is_started_while_the_first_hangs(tree: Path) -> None:
    fifo = tree / "class/drm/card2/device/mem_info_gtt_used"
    hang(fifo)

    async def many() -> None:
        source = AmdGpu(str(tree))
        await source.read()
        threads = len(os.listdir("/proc/self/task"))
        for _ in range(20):
            _, hung = await source.read()
            assert hung.state == "timeout"
            assert "hanging" in hung.reason
        assert len(os.listdir("/proc/self/task")) == threads
        stuck = fifo.rename(fifo.with_name("stuck"))
        fifo.write_text("78")
        await trio.to_thread.run_sync(stuck.write_text, "77")  # the driver comes back
        with trio.fail_after(10):
            while (hung := (await source.read())[1]).state != "value":
                await trio.sleep(0.01)
        assert hung.values["gtt_used_bytes"] == 78

    trio.run(many)


def test_a_driver_that_refuses_is_not_0(tree: Path) -> None:
    device = tree / "class/drm/card2/device"
    for name in ("mem_info_gtt_used", "mem_info_vram_used"):
        (device / name).unlink()
        (device / name).mkdir()  # reading it fails with EISDIR
    _, refused = read(AmdGpu(str(tree)))
    assert refused.state == "error"
    assert refused.values["gtt_used_bytes"] is None
    assert refused.values["busy_percent"] == 97


def test_states_of_refusals() -> None:
    def state(number: int) -> str:
        return refusal(OSError(number, os.strerror(number), "file"))[0]

    assert state(errno.EPERM) == state(errno.EACCES) == "denied"
    assert state(errno.ENOENT) == state(errno.EOPNOTSUPP) == "unsupported"
    assert state(errno.EBUSY) == state(errno.EIO) == "error"


class Misbehaving:
    """A source that does what it is told to."""

    name = "misbehaving"
    bound_s = 0.05

    def __init__(self, fault: Exception | None) -> None:
        self.fault = fault

    async def read(self) -> Sequence[Reading]:
        if self.fault:
            raise self.fault
        await trio.sleep_forever()
        raise AssertionError


def test_a_source_that_never_answers_and_one_with_a_bug() -> None:
    (reading,) = read(Misbehaving(None))
    assert (reading.state, reading.reason) == ("timeout", "no answer within 0.05 s")
    (reading,) = read(Misbehaving(KeyError("x")))
    assert (reading.state, reading.reason) == ("error", "ours: KeyError: 'x'")


def test_a_reader_passes_on_what_was_raised_and_is_free_again() -> None:
    async def reads() -> None:
        reader = BlockingReader()
        with pytest.raises(ZeroDivisionError):
            await reader.run(lambda: 1 // 0)
        assert await reader.run(lambda: 3) == 3
        read_end, write_end = os.pipe()
        slow = BlockingReader(bound_s=0.05)
        with pytest.raises(HungError):
            await slow.run(lambda: os.read(read_end, 1))
        os.write(write_end, b"x")
        with trio.fail_after(10):
            while True:
                try:
                    assert await slow.run(lambda: 4) == 4
                    break
                except HungError:
                    await trio.sleep(0.01)
        os.close(read_end)
        os.close(write_end)

    trio.run(reads)
