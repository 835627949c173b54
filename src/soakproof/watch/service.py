"""The watch at work: every source on its own schedule, the kernel's log beside them, all into the evidence.

Only writing can end it early: evidence that cannot be written is a RecorderError. A source never can.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import trio

from soakproof.clock import NS, RunClock, nanoseconds, seconds
from soakproof.run import NodeWriter
from soakproof.watch.amdgpu import AmdGpu
from soakproof.watch.backend_metrics import BackendMetrics, FrontMetrics
from soakproof.watch.backend_slots import BackendSlots
from soakproof.watch.cgroup import Cgroup
from soakproof.watch.clock_steps import ClockSteps
from soakproof.watch.cpu import Cpu
from soakproof.watch.ending import Ending
from soakproof.watch.flushing import EVERY_S, Flusher
from soakproof.watch.gpu_memory import GpuMemory
from soakproof.watch.guard.soak import SoakGuard
from soakproof.watch.health import Health, Live
from soakproof.watch.http import Http
from soakproof.watch.kernel_source import NAME as KERNEL_LOG
from soakproof.watch.kernel_source import KernelLog, open_kernel_log
from soakproof.watch.known import Known
from soakproof.watch.memory import Memory, Pressure
from soakproof.watch.nvidia import Nvidia
from soakproof.watch.other_gpus import OtherGpus
from soakproof.watch.processes import Processes
from soakproof.watch.recorder import Recorder
from soakproof.watch.schedule import Pace, Schedule
from soakproof.watch.server_log import NAME as SERVER_LOG
from soakproof.watch.server_log import NOT_NAMED, server_logs
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, Source, read_bounded, refusal
from soakproof.watch.thermal import Thermal

Tell = Callable[[Mapping[str, Any]], None]


HOST_SOURCES = (
    "memory",
    "psi",
    "cpu",
    "thermal",
    "amdgpu",
    "nvidia",
    "gpu",
    "cgroup",
    "process",
    "gpu_memory",
    KERNEL_LOG,
    SERVER_LOG,
)
SLOWLY_S = 5.0  # the least for what changes slowly, or costs more to ask
_RARELY_S = 30.0
_ELSEWHERE = "the target runs on another host, and what this one shows is not about it"


def make_sources(config: WatchConfig) -> list[tuple[Source, float]]:
    """Every source for this target, with its period in seconds. Of another host there is only HTTP."""
    http, known = Http(config), Known(config)
    often, slowly = config.interval_s, max(config.interval_s, SLOWLY_S)
    host: list[tuple[Source, float]] = [
        (Memory(config.proc_root), often),
        (Pressure(config.proc_root), often),
        (Cpu(config.proc_root, config.sys_root), often),
        (Thermal(config.sys_root), slowly),
        (AmdGpu(config.sys_root), often),
        (Nvidia(config.proc_root), often),
        (OtherGpus(config.sys_root), _RARELY_S),
    ]
    processes: list[tuple[Source, float]] = [
        (Processes(config, known), often),
        (GpuMemory(config.proc_root, known), slowly),
    ]
    server: list[tuple[Source, float]] = [
        (Health(config, http, known), often),
        *([(Live(config, http), often)] if config.is_lemonade else ()),
        (BackendSlots(config, http, known), config.slots_every_s),
        (BackendMetrics(config, http, known), config.slots_every_s),  # at the same time as the slots
        *([(FrontMetrics(config, http), config.slots_every_s)] if config.is_lemonade else ()),
    ]
    groups = (Cgroup(config.proc_root, config.sys_root, known), slowly)  # of the processes that were found
    logs = [(log, often) for log in server_logs(config.server_logs, config.headers_env)]
    return [
        *(host if config.is_local else ()),
        *(processes if config.is_local and (config.base_url or config.server_pids) else ()),
        *(server if config.base_url else ()),
        *(logs if config.is_local else ()),
        *([groups] if config.is_local else ()),
    ]


def unseen(config: WatchConfig) -> list[Reading]:
    """Sources that there cannot be for this target, and why."""
    if not config.is_local:
        return [Reading(name, "unsupported", reason=_ELSEWHERE) for name in HOST_SOURCES]
    not_named = config.base_url and not config.server_logs
    return [Reading(SERVER_LOG, "unsupported", reason=NOT_NAMED)] if not_named else []


class Service:
    """One watch. ``tell`` hands a line to whoever started it."""

    def __init__(self, config: WatchConfig, writer: NodeWriter, tell: Tell) -> None:
        self._config = config
        self._clock = RunClock(config.zero_ns)
        self._recorder = Recorder(writer, self._clock)
        self._flusher = Flusher(writer.folder.parent)
        self._tell = tell
        self._paces: dict[str, Pace] = {}
        self._guard = SoakGuard(config, self._recorder, self._clock.now, self._tell_guard)

    async def run(self, ending: Ending) -> None:
        """Until there is a reason to end. Raises RecorderError, in a group, when writing fails, and at the
        beginning SoakproofError where the guard cannot do what it must.
        """
        log, state = await self._open_kernel_log()
        sources = make_sources(self._config)
        periods_s = {source.name: period for source, period in sources}
        self._recorder.event("watch_started", self._beginning(state) | {"periods_s": periods_s})
        self._recorder.state_of(state)
        for reading in unseen(self._config):
            self._recorder.state_of(reading)
        self._recorder.event("guarded", await self._guard.begin())
        start = self._clock.now()
        beat = self._pace(start, self._config.interval_s)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._beat, beat)
            nursery.start_soon(self._flush)
            for source, period in sources:
                self._paces[source.name] = self._pace(start, period)
                nursery.start_soon(self._follow, source, self._paces[source.name])
            if log:
                nursery.start_soon(self._follow_kernel, log, state)
            nursery.start_soon(self._guard.run)
            self._tell({"ready": True, **self._guard.told()})
            await ending.wait()
            await self._guard.acted()
            nursery.cancel_scope.cancel()
        if log:
            log.close()
        self._recorder.event("watch_ended", self._coverage(beat, ending.reason))

    async def _open_kernel_log(self) -> tuple[KernelLog | None, Reading]:
        if self._config.is_local:
            return await open_kernel_log(self._config.kmsg)
        return None, Reading(KERNEL_LOG, "unsupported", reason=_ELSEWHERE)

    def _pace(self, start_ns: int, period_s: float) -> Pace:
        return Pace(Schedule(start_ns, nanoseconds(period_s)), self._clock.now)

    async def _follow(self, source: Source, pace: Pace) -> None:
        """One source, as long as the watch runs. A reading that takes long costs this source ticks only."""
        while True:
            tick = await pace.next()
            began = self._clock.now()
            for found in await read_bounded(source):
                if isinstance(found, Reading):
                    self._recorder.reading(found, tick.due_ns, began)
                else:
                    self._recorder.happening(found)

    async def _follow_kernel(self, log: KernelLog, well: Reading) -> None:
        """The kernel's log; a read that failed and then succeeds is told, too."""
        while True:
            try:
                lines = await log.next()
                if self._recorder.latest[KERNEL_LOG] != well:
                    self._recorder.state_of(well)
                self._recorder.kernel(lines)
            except EOFError as error:
                self._recorder.state_of(Reading(KERNEL_LOG, "error", reason=str(error)))
                return
            except OSError as error:
                self._recorder.state_of(Reading(KERNEL_LOG, "error", reason=refusal(error)[1]))
                await trio.sleep(self._config.interval_s)

    async def _flush(self) -> None:
        while True:
            await trio.sleep(EVERY_S)
            await self._flusher.flush()

    async def _beat(self, pace: Pace) -> None:
        """The watch's own tick: proves that it lives, looks at the clocks, tells the parent."""
        steps = ClockSteps()
        while True:
            tick = await pace.next()
            step = steps.see(time.time_ns(), time.monotonic_ns())
            if step is not None:
                self._recorder.event("clock_step", {"step_s": round(step, 3)})
            self._tell(
                {
                    "t_s": round(seconds(tick.due_ns + tick.late_ns), 3),
                    "available_bytes": self._value("memory", "available_bytes"),
                    "slots_busy": self._value("slots", "busy"),
                    "incidents": self._recorder.incidents.count,
                    "fatal": self._recorder.incidents.fatal,
                    **self._guard.told(),
                }
            )

    def _tell_guard(self) -> None:
        self._tell(self._guard.told())

    def _value(self, source: str, name: str) -> Any:
        reading = self._recorder.latest.get(source)
        return reading.values.get(name) if reading else None

    def _beginning(self, kernel_log: Reading) -> dict[str, Any]:
        return {
            "interval_s": self._config.interval_s,
            "slots_every_s": self._config.slots_every_s,
            "wall_unix_s": time.time(),
            "kernel_log": kernel_log.state,
        }

    def _coverage(self, beat: Pace, reason: str) -> dict[str, Any]:
        now = self._clock.now()
        own = _figures(beat, now)
        return {
            "reason": reason,
            "ticks_due": own["due"],
            "ticks_had": own["had"],
            "ticks_missed": own["missed"],
            "late_max_ms": own["late_max_ms"],
            "sources": {name: _figures(pace, now) for name, pace in self._paces.items()},
            "states": {name: dict(counts) for name, counts in self._recorder.states.items()},
            "incidents": self._recorder.incidents.count,
            "kernel_lines_not_kept": self._recorder.lines_not_kept,
        }


def _figures(pace: Pace, now_ns: int) -> dict[str, float]:
    missed = pace.missed_by(now_ns)
    late_max_ms = round(pace.late_max_ns * 1000 / NS, 1)
    return {"due": pace.had + missed, "had": pace.had, "missed": missed, "late_max_ms": late_max_ms}
