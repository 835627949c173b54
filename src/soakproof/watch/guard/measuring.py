"""The sources of a guard: the watch's own, in groups that do not wait for each other."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Protocol

import trio

from soakproof.watch.amdgpu import AmdGpu
from soakproof.watch.guard.limits import Limits, Measured
from soakproof.watch.memory import Memory
from soakproof.watch.nvidia import Nvidia
from soakproof.watch.source import Happening, Reading, Source, read_bounded


class Gauge(Protocol):
    """Measures some fields of Measured."""

    fields: tuple[str, ...]

    async def look(self, now: Callable[[], int]) -> Measured:
        """One look, on the clock ``now``; it ends within the bounds of its sources."""
        ...

    def why_unknown(self, field: str) -> str:
        """Why the last look did not tell a field, in words."""
        ...


class MemoryGauge:
    """Available memory, and the growth of swap since the first look."""

    fields: tuple[str, ...] = ("available_bytes", "swap_growth_bytes")

    def __init__(self, proc_root: str) -> None:
        self._source = Memory(proc_root)
        self._readings: Sequence[Reading] = ()
        self._swap_at_first: int | None = None

    async def look(self, now: Callable[[], int]) -> Measured:
        self._readings = await _read(self._source)
        swap = next(iter(_values(self._readings, "swap_used_bytes")), None)
        if self._swap_at_first is None:
            self._swap_at_first = swap
        grown = None if swap is None or self._swap_at_first is None else swap - self._swap_at_first
        available = next(iter(_values(self._readings, "available_bytes")), None)
        return Measured(t_ns=now(), available_bytes=available, swap_growth_bytes=grown)

    def why_unknown(self, field: str) -> str:
        return _why(self._readings)


class GpuGauge:
    """GTT of all AMD GPUs together, VRAM of the GPU that uses most. NVIDIA's are asked for VRAM only.

    Neither is known while a card hides its part. What the others use counts all the same once it alone is
    beyond the ceiling.
    """

    fields: tuple[str, ...] = ("gtt_used_bytes", "vram_used_bytes")

    def __init__(self, proc_root: str, sys_root: str, limits: Limits) -> None:
        nvidia = limits.vram_ceiling_bytes is not None
        self._sources: list[Source] = [AmdGpu(sys_root), *([Nvidia(proc_root)] if nvidia else [])]
        self._limits = limits
        self._readings: list[Reading] = []
        self._told: dict[str, set[str]] = {field: set() for field in self.fields}  # cards that ever told it

    async def look(self, now: Callable[[], int]) -> Measured:
        readings: list[Reading] = []

        async def read(source: Source) -> None:
            readings.extend(await _read(source))

        async with trio.open_nursery() as nursery:
            for source in self._sources:
                nursery.start_soon(read, source)
        self._readings = sorted(readings, key=lambda r: r.source)
        amd = [r for r in self._readings if r.source.startswith(AmdGpu.name)]
        return Measured(
            t_ns=now(),
            gtt_used_bytes=self._together("gtt_used_bytes", amd, sum, self._limits.gtt_ceiling_bytes),
            vram_used_bytes=self._together(
                "vram_used_bytes", self._readings, max, self._limits.vram_ceiling_bytes
            ),
        )

    def _together(
        self,
        field: str,
        readings: Sequence[Reading],
        of_all: Callable[[Sequence[int]], int],
        ceiling: int | None,
    ) -> int | None:
        """Of all cards; None while one that ever told the field, or one that fails, does not tell it."""
        telling = {r.source for r in readings if r.values.get(field) is not None}
        self._told[field] |= telling
        if not telling:
            return None
        value = of_all(_values(readings, field))
        failing = {r.source for r in readings if _fails(r)}
        is_whole = self._told[field] | failing <= telling
        return value if is_whole or (ceiling is not None and value > ceiling) else None

    def why_unknown(self, field: str) -> str:
        return _why(self._readings, self._told[field])


class CountGauge:
    """What happens rather than grows: fatal incidents of the kernel's log, restarts of processes."""

    fields: tuple[str, ...] = ("fatal_incidents", "restarts")

    def __init__(
        self,
        fatal: Callable[[], int | None],
        restarts: Callable[[], int | None],
        why_no_kernel_log: Callable[[], str],
    ) -> None:
        """Each tells its count since the guard began, None while it cannot be known."""
        self._fatal = fatal
        self._restarts = restarts
        self._why_no_kernel_log = why_no_kernel_log

    async def look(self, now: Callable[[], int]) -> Measured:
        await trio.lowlevel.checkpoint()
        return Measured(t_ns=now(), fatal_incidents=self._fatal(), restarts=self._restarts())

    def why_unknown(self, field: str) -> str:
        return (
            self._why_no_kernel_log() if field == "fatal_incidents" else "no process of a server is watched"
        )


def host_gauges(limits: Limits, proc_root: str, sys_root: str) -> list[Gauge]:
    """Memory and GPUs. Each is read in its own time, so that a GPU that hangs delays no look at memory."""
    return [MemoryGauge(proc_root), GpuGauge(proc_root, sys_root, limits)]


async def _read(source: Source) -> list[Reading]:
    found: Sequence[Reading | Happening] = await read_bounded(source)
    return [reading for reading in found if isinstance(reading, Reading)]


def _values(readings: Iterable[Reading], name: str) -> list[int]:
    found: list[Any] = [reading.values.get(name) for reading in readings]
    return [value for value in found if value is not None]


def _fails(reading: Reading) -> bool:
    """Whether a GPU may be behind it that would tell more: a source without any is unsupported or refuses."""
    is_card = ":" in reading.source
    return reading.state == "timeout" or (is_card and reading.state in ("error", "denied"))


def _told_by(reading: Reading) -> str:
    if reading.state == "value":
        return f"{reading.source} was read, and does not tell it"
    return f"{reading.source} {reading.state}{f': {reading.reason}' if reading.reason else ''}"


def _why(readings: Sequence[Reading], expected: Collection[str] = ()) -> str:
    """By what was read; ``expected`` are sources that told something before."""
    reasons = [_told_by(reading) for reading in readings]
    gone = sorted(set(expected) - {r.source for r in readings})
    return "; ".join([*reasons, *(f"{source} is gone" for source in gone)]) or "not looked at"
