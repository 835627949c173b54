"""The guard of a soak, inside the watch: tells the load to stop, and acts on the server if the plan says so.

It adds events to the watch's evidence and changes none. The load is told first, so that nothing asks any more
when the model is unloaded; should the load's own process hang, the server is unloaded or ended all the same.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trio

from soakproof.errors import SoakproofError
from soakproof.watch.guard.acting import Acted, end_backend, unload
from soakproof.watch.guard.limits import Limits
from soakproof.watch.guard.lookout import Lookout, refused
from soakproof.watch.guard.measuring import CountGauge, Gauge, host_gauges
from soakproof.watch.guard.processes import Process, below, everything, find
from soakproof.watch.http import Http
from soakproof.watch.kernel_source import NAME as KERNEL_LOG
from soakproof.watch.known import MAIN
from soakproof.watch.process import still_listens
from soakproof.watch.recorder import Recorder
from soakproof.watch.settings import WatchConfig, is_loopback

_PROC = Path("/proc")
_LOOK_S = 0.5
_SEEN_WITHIN_S = 3.0  # a backend of which nothing is known yet
_SHOWN = 120  # characters of a reason that a line to the load has room for
_ELSEWHERE = "the target runs on another host"


class SoakGuard:
    """One guard. ``tell`` is called once it has tripped, so that the load hears of it at once."""

    def __init__(
        self, config: WatchConfig, recorder: Recorder, now: Callable[[], int], tell: Callable[[], None]
    ) -> None:
        self.reason = ""  # why the load must end, once it must
        self._config = config
        self._recorder = recorder
        self._tell = tell
        self._unknown: dict[str, str] = {}
        self._backend: Process | None = None
        self._has_acted = trio.Event()
        self._lookout = Lookout(self.limits, self._gauges(), now, _ELSEWHERE)

    @property
    def limits(self) -> Limits:
        return self._config.guard.limits

    def _gauges(self) -> list[Gauge]:
        """Those that some limit needs; of another host nothing can be measured."""
        fields = {limit.field for limit in self.limits.each()}
        counts = CountGauge(self._fatal, self._restarts, self._why_no_kernel_log)
        local = host_gauges(self.limits, self._config.proc_root, self._config.sys_root)
        gauges = [*(local if self._config.is_local else ()), counts]
        return [gauge for gauge in gauges if fields.intersection(gauge.fields)]

    def _fatal(self) -> int | None:
        log = self._recorder.latest.get(KERNEL_LOG)
        return self._recorder.incidents.fatal if log and log.state == "value" else None

    def _why_no_kernel_log(self) -> str:
        log = self._recorder.latest.get(KERNEL_LOG)
        return log.reason if log else "not opened"

    def _restarts(self) -> int | None:
        return self._recorder.restarts if self._config.is_local and self._config.base_url else None

    async def begin(self) -> dict[str, Any]:
        """Prove that it can do what the plan wants; what the watch's first event tells of it.

        Raises SoakproofError where a required limit cannot be measured, or the server cannot be acted upon.
        """
        await self._lookout.look_once()
        self._unknown = self._lookout.unknown()
        for name, why in refused(self.limits, self._unknown).items():
            problem = f"{name} is required and cannot be measured: {why}"
            raise SoakproofError(f"the guard: {problem}; `soakproof doctor` says what to do")
        if problem := self._config.why_powerless:
            raise SoakproofError(f"the guard: then = {self._config.guard.then!r}: {problem}")
        return {
            "limits": self.limits.described(),
            "unknown": self._unknown,
            "then": self._config.guard.then,
        }

    def told(self) -> dict[str, Any]:
        """For each line to the load."""
        unknown = {name: why[:_SHOWN] for name, why in self._unknown.items()}
        return {"guard": self.reason[: 4 * _SHOWN], "guard_unknown": unknown}

    async def run(self) -> None:
        """Look until a limit is crossed; then tell, and act. The end of the watch waits for that."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._follow_backend)
            decision = await self._lookout.wait_for_trip()
            self.reason = "; ".join(decision.reasons)
            self._recorder.event("guard_trip", self._lookout.trip_details())
            self._tell()
            if self._config.guard.then != "stop":
                with trio.CancelScope(shield=True):
                    acted = await self._act()
                self._recorder.event(
                    "guard_action", {"what": acted.what, "done": acted.done, **acted.details}
                )
            self._has_acted.set()
            nursery.cancel_scope.cancel()

    async def acted(self) -> None:
        """Once what it does to the server is done, if it has tripped: the sources go on for so long."""
        if self.reason:
            await self._has_acted.wait()

    async def _act(self) -> Acted:
        target = self._config.target
        if self._config.guard.then == "end":
            with trio.move_on_after(_SEEN_WITHIN_S):
                while self._backend is None:
                    self._see_backend()
                    await trio.sleep(_LOOK_S)
            return await end_backend(self._backend)
        model = str(target.get("model_resolved") or target.get("model"))
        return await unload(Http(self._config), f"{self._config.base_url}{self._config.prefix}", model)

    async def _follow_backend(self) -> None:
        while self._config.guard.then == "end":
            self._see_backend()
            await trio.sleep(_LOOK_S)

    def _see_backend(self) -> None:
        """Keep the identity of the backend's process while the watch sees it: a pid alone is not enough."""
        seen = self._recorder.latest.get(f"process:{MAIN}")
        if seen and seen.state == "value":
            found = find(seen.values["pid"])
            is_it = found is not None and found.name == seen.values["name"]
            self._backend = self._the_servers(found) if found is not None and is_it else None

    def _the_servers(self, told: Process) -> Process | None:
        """The process that was told, where it or its parent has the backend's port; else the one below it
        that has. None where none has it.

        A front in a container tells pids of the container's, which on this host are anybody's; and above the
        backend there may be a shell that has started other things.
        """
        if not self._config.is_lemonade or told.pid in self._config.server_pids:
            return told  # it was found by its port, or the user named it
        url = self._backend_url()
        port = urlsplit(url).port if is_loopback(url) else None
        if port is None:
            return None
        if still_listens(_PROC, told.pid, port) or still_listens(_PROC, told.parent, port):
            return told
        return next((p for p in below(told.pid, everything()) if still_listens(_PROC, p.pid, port)), None)

    def _backend_url(self) -> str:
        """As the front told it last."""
        health = self._recorder.latest.get("health")
        listed = health.values.get("backends") if health else None
        told = next((b["url"] for b in listed or () if b["role"] == MAIN), None)
        return str(told or self._config.target.get("backend_url") or "")
