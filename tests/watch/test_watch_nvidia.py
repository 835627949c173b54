# ruff: noqa: N802 - the names are NVML's
"""NVIDIA GPUs as NVML tells of them. The answers are written, after what an H200 with driver 580 told."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from soakproof.watch.guard.limits import Limits
from soakproof.watch.guard.measuring import GpuGauge
from soakproof.watch.nvidia import Nvidia

pynvml = pytest.importorskip("pynvml")


class Answers:
    """pynvml with written answers: its own errors and constants, and no library behind it."""

    def __init__(self, cards: int = 1, **refused: int) -> None:
        self._cards = cards
        self._refused = refused
        self.open = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(pynvml, name)

    def __getattribute__(self, name: str) -> Any:
        code = object.__getattribute__(self, "__dict__").get("_refused", {}).get(name)
        return object.__getattribute__(self, name) if code is None else lambda *_, **__: _refuse(code)

    def nvmlInit(self) -> None:
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return self._cards

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetMemoryInfo(self, _card: int, version: int | None = None) -> Any:
        reserved = 1 << 29
        if version is None:
            return SimpleNamespace(total=24 << 30, free=8 << 30, used=16 << 30)
        assert version == pynvml.nvmlMemory_v2
        return SimpleNamespace(total=24 << 30, reserved=reserved, free=8 << 30, used=(16 << 30) - reserved)

    def nvmlDeviceGetUtilizationRates(self, _card: int) -> Any:
        return SimpleNamespace(gpu=97, memory=61)

    def nvmlDeviceGetPowerUsage(self, _card: int) -> int:
        return 312_450

    def nvmlDeviceGetEnforcedPowerLimit(self, _card: int) -> int:
        return 350_000

    def nvmlDeviceGetTemperature(self, _card: int, _sensor: int) -> int:
        return 71

    def nvmlDeviceGetClockInfo(self, _card: int, kind: int) -> int:
        return {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 10501}[kind]

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, _card: int) -> int:
        return 0x4 | 0x1

    def nvmlDeviceGetComputeRunningProcesses(self, _card: int) -> list[Any]:
        return [SimpleNamespace(pid=4711, usedGpuMemory=15 << 30), SimpleNamespace(pid=9, usedGpuMemory=None)]


def _refuse(code: int) -> None:
    raise pynvml.NVMLError(code)


def read(nvml: Any) -> list[Any]:
    return list(trio.run(Nvidia("/proc", nvml).read))


def test_what_a_card_shows() -> None:
    nvml = Answers()
    (reading,) = read(nvml)
    assert (reading.source, reading.state, reading.reason) == ("nvidia:0", "value", "")
    assert reading.values == {
        "vram_used_bytes": (16 << 30) - (1 << 29),
        "vram_total_bytes": 24 << 30,
        "vram_reserved_bytes": 1 << 29,
        "busy_percent": 97,
        "memory_busy_percent": 61,
        "power_watts": 312.45,
        "power_limit_watts": 350.0,
        "temperature_celsius": 71.0,
        "gpu_clock_hz": 1_980_000_000,
        "memory_clock_hz": 10_501_000_000,
        "slowed_by": ["software power cap"],
        "pids": [4711, 9],
        "pids_used_bytes": [15 << 30, None],
    }
    assert nvml.open == 1


async def _readings(source: Nvidia, times: int) -> list[Any]:
    return [(await source.read())[0] for _ in range(times)]


def test_nvml_stays_open_between_the_ticks_and_is_opened_anew_after_an_error() -> None:
    class LostOnce(Answers):
        opened = 0

        def nvmlInit(self) -> None:
            super().nvmlInit()
            self.opened += 1

        def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
            if self.opened == 1 and self.reads == 2:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            return index

        reads = 0

        def nvmlDeviceGetCount(self) -> int:
            self.reads += 1
            return 1

    nvml = LostOnce()
    states = [reading.state for reading in trio.run(_readings, Nvidia("/proc", nvml), 4)]
    assert states == ["value", "error", "value", "value"]
    assert (nvml.opened, nvml.open) == (2, 1)


@pytest.mark.parametrize(
    "code", [pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH]
)
def test_an_old_driver_tells_what_it_reserves_as_used(code: int) -> None:
    class Old(Answers):
        def nvmlDeviceGetMemoryInfo(self, _card: int, version: int | None = None) -> Any:
            if version is not None:
                _refuse(code)
            return super().nvmlDeviceGetMemoryInfo(_card)

    (reading,) = read(Old())
    assert (reading.state, reading.values["vram_used_bytes"]) == ("value", 16 << 30)
    assert "vram_reserved_bytes" not in reading.values


def test_every_card_has_a_reading() -> None:
    assert [r.source for r in read(Answers(cards=3))] == ["nvidia:0", "nvidia:1", "nvidia:2"]


def test_what_a_card_does_not_have_is_left_out_with_its_reason() -> None:
    (reading,) = read(Answers(nvmlDeviceGetPowerUsage=pynvml.NVML_ERROR_NOT_SUPPORTED))
    assert reading.state == "value"
    assert "power_watts" not in reading.values
    assert reading.reason == "power: Not Supported"


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (pynvml.NVML_ERROR_NO_PERMISSION, "denied"),
        (pynvml.NVML_ERROR_NOT_SUPPORTED, "unsupported"),
        (pynvml.NVML_ERROR_GPU_IS_LOST, "error"),
    ],
)
def test_without_its_memory_a_card_has_no_value(code: int, state: str) -> None:
    (reading,) = read(Answers(nvmlDeviceGetMemoryInfo=code))
    assert reading.state == state
    assert "vram_used_bytes" not in reading.values
    assert reading.values["busy_percent"] == 97


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, "unsupported"),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "unsupported"),
        (pynvml.NVML_ERROR_UNKNOWN, "error"),
    ],
)
def test_a_driver_that_cannot_be_asked_is_told(code: int, state: str) -> None:
    (reading,) = read(Answers(nvmlInit=code))
    assert (reading.source, reading.state) == ("nvidia", state)
    assert reading.reason.startswith("NVML: ")


def test_a_lost_card_hides_no_other() -> None:
    class OneLost(Answers):
        def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
            if index == 0:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
            return index

    assert [r.state for r in read(OneLost(cards=2))] == ["error", "value"]


def test_a_guard_does_not_take_a_lost_card_for_an_empty_one() -> None:
    nvml, gauge = Answers(cards=2), GpuGauge("/nowhere", "/nowhere", Limits(vram_ceiling_bytes=20 << 30))
    gauge._sources[1] = Nvidia("/proc", nvml)
    assert trio.run(gauge.look, lambda: 0).vram_used_bytes == (16 << 30) - (1 << 29)
    nvml._cards = 1
    assert trio.run(gauge.look, lambda: 0).vram_used_bytes is None
    assert "nvidia:1 is gone" in gauge.why_unknown("vram_used_bytes")


def test_a_recorded_machine_is_not_asked(tmp_path: Path) -> None:
    (reading,) = trio.run(Nvidia(str(tmp_path)).read)
    assert (reading.state, reading.reason) == ("unsupported", "a recorded machine cannot be asked by NVML")


@pytest.mark.skipif(Path("/proc/driver/nvidia").is_dir(), reason="this machine has an NVIDIA driver")
def test_a_host_without_the_driver_is_unsupported() -> None:
    (reading,) = trio.run(Nvidia("/proc").read)
    assert reading.state == "unsupported"
