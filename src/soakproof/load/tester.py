"""The tester's own health, each second: was it the tester that was slow?"""

import time
from collections.abc import Callable
from typing import Any

import gevent
import psutil

from soakproof.clock import NS, RunClock
from soakproof.errors import RecorderError
from soakproof.load.recorder import Recorder
from soakproof.records import Sample

_BEAT = 0.05  # seconds between two looks at the loop's lag


class TesterSampler:
    """Samples this process's CPU, memory and event-loop lag into the evidence."""

    def __init__(self, recorder: Recorder, clock: RunClock, state: Callable[[], dict[str, Any]]) -> None:
        self._recorder = recorder
        self._clock = clock
        self._state = state
        self._process = psutil.Process()
        self._lag = 0.0
        self._greenlets = [gevent.spawn(self._beat), gevent.spawn(self._run)]

    def _beat(self) -> None:
        while True:
            before = time.monotonic()
            gevent.sleep(_BEAT)
            self._lag = max(self._lag, time.monotonic() - before - _BEAT)

    def _run(self) -> None:
        due = self._clock.now() + NS
        used = sum(self._process.cpu_times()[:2])
        while True:
            gevent.sleep(max(0.0, (due - self._clock.now()) / NS))
            now = self._clock.now()
            spent = sum(self._process.cpu_times()[:2])
            lag, self._lag = self._lag, 0.0
            values = {
                "cpu_percent": round((spent - used) * 100 * NS / max(now - due + NS, 1), 1),
                "loop_lag_max_ms": round(lag * 1000, 2),
                "rss_bytes": self._process.memory_info().rss,
                **self._state(),
            }
            try:
                self._recorder.sample(
                    Sample(
                        node=self._recorder.node,
                        source="tester",
                        due_ns=due,
                        t_ns=now,
                        took_ns=self._clock.now() - now,
                        state="value",
                        values=values,
                    )
                )
            except RecorderError:
                return  # said and acted upon where it arose
            used = spent
            due += NS * max(1, 1 + (now - due) // NS)

    def close(self) -> None:
        gevent.killall(self._greenlets)
