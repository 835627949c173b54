"""NVIDIA GPUs by NVML: memory, load, clocks, power, temperature, what slows them, and who uses their memory.

NVML comes with the driver; its Python package is the extra ``soakproof[nvidia]``. Each call may hang with the
driver, so all are made in one thread that may be left behind.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from soakproof.records import SourceState
from soakproof.watch.source import BlockingReader, HungError, Reading

_PROCESSES = 64  # that are kept of each GPU
_PRIMARY = "vram_used_bytes"
# Bits of NVML's clocks event reasons that mean that a GPU is held below its clocks.
_SLOWED_BY: Mapping[int, str] = {
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}
_STATES: Mapping[str, SourceState] = {
    "NVMLError_NotSupported": "unsupported",
    "NVMLError_LibraryNotFound": "unsupported",
    "NVMLError_DriverNotLoaded": "unsupported",
    "NVMLError_NoPermission": "denied",
}


class Nvidia:
    """``nvidia:<index>`` for each GPU; ``nvidia`` alone says that there is none, or why none can be asked."""

    name = "nvidia"
    bound_s = 3.0

    def __init__(self, proc_root: str, nvml: Any = None) -> None:
        """``nvml`` is the module pynvml, which is imported when it is not given."""
        self._proc = Path(proc_root)
        self._nvml = nvml
        self._missing = ""  # why NVML is not asked at all
        self._open = False  # kept open from tick to tick: each opening may wake a sleeping card
        self._reader = BlockingReader(bound_s=2.0)

    async def read(self) -> Sequence[Reading]:
        if self._missing:
            return [Reading(self.name, "unsupported", reason=self._missing)]
        try:
            return await self._reader.run(self._read)
        except HungError as error:
            return [Reading(self.name, "timeout", reason=str(error))]

    def _read(self) -> list[Reading]:
        """Every GPU; blocking."""
        if self._nvml is None:
            self._missing = self._load()
            if self._missing:
                return [Reading(self.name, "unsupported", reason=self._missing)]
        try:
            cards = self._cards()
        except self._nvml.NVMLError as error:
            cards = [Reading(self.name, *_refusal(error))]
        if any(card.state == "error" for card in cards):
            self._close()  # opened anew at the next tick: so a driver that came back is found
        return cards or [Reading(self.name, "unsupported", reason="NVML knows of no GPU")]

    def _cards(self) -> list[Reading]:
        """A reading of each card. Raises NVMLError when NVML itself cannot be asked."""
        if not self._open:
            self._nvml.nvmlInit()
            self._open = True
        return [self._card(index) for index in range(self._nvml.nvmlDeviceGetCount())]

    def _close(self) -> None:
        if self._open:
            self._open = False
            with contextlib.suppress(self._nvml.NVMLError):
                self._nvml.nvmlShutdown()

    def _load(self) -> str:
        """Import NVML's package; why it is of no use, else nothing."""
        if self._proc != Path("/proc"):
            return "a recorded machine cannot be asked by NVML"
        try:
            import pynvml
        except ImportError:
            if (self._proc / "driver" / "nvidia").is_dir():
                return "an NVIDIA GPU is there, NVML's package is not: pip install 'soakproof[nvidia]'"
            return "no NVIDIA driver is loaded, and NVML's package is not installed"
        self._nvml = pynvml
        return ""

    def _card(self, index: int) -> Reading:
        source = f"{self.name}:{index}"
        values: dict[str, Any] = {}
        refused: dict[str, Exception] = {}
        try:
            handle = self._nvml.nvmlDeviceGetHandleByIndex(index)
        except self._nvml.NVMLError as error:
            return Reading(source, *_refusal(error))
        for read in _CARD:
            try:
                values |= read(self._nvml, handle)
            except self._nvml.NVMLError as error:
                refused[read.__name__.strip("_")] = error
        reason = "; ".join(f"{what}: {error}" for what, error in refused.items())
        if values.get(_PRIMARY) is None:
            state = _refusal(refused["memory"])[0] if "memory" in refused else "error"
            return Reading(source, state, values, reason)
        return Reading(source, "value", values, reason)


def _memory(nvml: Any, card: Any) -> dict[str, Any]:
    """As nvidia-smi tells it; the first version of the call counts what the driver reserves as used."""
    try:
        found = nvml.nvmlDeviceGetMemoryInfo(card, version=nvml.nvmlMemory_v2)
    except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_ArgumentVersionMismatch):  # a driver before 510
        found = nvml.nvmlDeviceGetMemoryInfo(card)
        return {"vram_used_bytes": found.used, "vram_total_bytes": found.total}
    return {
        "vram_used_bytes": found.used,
        "vram_total_bytes": found.total,
        "vram_reserved_bytes": found.reserved,
    }


def _load(nvml: Any, card: Any) -> dict[str, Any]:
    found = nvml.nvmlDeviceGetUtilizationRates(card)
    return {"busy_percent": found.gpu, "memory_busy_percent": found.memory}


def _power(nvml: Any, card: Any) -> dict[str, Any]:
    return {"power_watts": nvml.nvmlDeviceGetPowerUsage(card) / 1000}


def _power_limit(nvml: Any, card: Any) -> dict[str, Any]:
    return {"power_limit_watts": nvml.nvmlDeviceGetEnforcedPowerLimit(card) / 1000}


def _temperature(nvml: Any, card: Any) -> dict[str, Any]:
    found = nvml.nvmlDeviceGetTemperature(card, nvml.NVML_TEMPERATURE_GPU)
    return {"temperature_celsius": float(found)}


def _clocks(nvml: Any, card: Any) -> dict[str, Any]:
    megahertz = 1_000_000
    return {
        "gpu_clock_hz": nvml.nvmlDeviceGetClockInfo(card, nvml.NVML_CLOCK_SM) * megahertz,
        "memory_clock_hz": nvml.nvmlDeviceGetClockInfo(card, nvml.NVML_CLOCK_MEM) * megahertz,
    }


def _slowed_by(nvml: Any, card: Any) -> dict[str, Any]:
    bits = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(card)
    return {"slowed_by": [name for bit, name in _SLOWED_BY.items() if bits & bit]}


def _processes(nvml: Any, card: Any) -> dict[str, Any]:
    """Sizes are None where the driver does not tell them, as inside a container."""
    found = nvml.nvmlDeviceGetComputeRunningProcesses(card)[:_PROCESSES]
    return {"pids": [p.pid for p in found], "pids_used_bytes": [p.usedGpuMemory for p in found]}


_CARD: tuple[Callable[[Any, Any], dict[str, Any]], ...] = (
    _memory,
    _load,
    _power,
    _power_limit,
    _temperature,
    _clocks,
    _slowed_by,
    _processes,
)


def _refusal(error: Exception) -> tuple[SourceState, dict[str, Any], str]:
    return _STATES.get(type(error).__name__, "error"), {}, f"NVML: {error}"
