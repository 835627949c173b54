"""Looking and deciding until a limit is crossed: the same in a soak's watch and under `soakproof guard`."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import trio

from soakproof.clock import NS
from soakproof.watch.guard.deciding import BLIND_S, Decision, decide
from soakproof.watch.guard.limits import Limits, Measured
from soakproof.watch.guard.measuring import Gauge
from soakproof.watch.guard.pacing import next_poll_s

_KEPT_S = 2 * BLIND_S
_SHOWN = 40  # looks before a trip that its event keeps


class Lookout:
    """Looks through every gauge at its own pace. ``now`` is the run clock."""

    def __init__(
        self,
        limits: Limits,
        gauges: Sequence[Gauge],
        now: Callable[[], int],
        why_no_gauge: str = "nothing measures it",
    ) -> None:
        """``why_no_gauge`` is the reason for a limit that none of the gauges is for."""
        self.limits = limits
        self.samples: deque[Measured] = deque()
        self.decision = Decision("go on")
        self._gauges = gauges
        self._now = now
        self._why_no_gauge = why_no_gauge

    async def look_once(self) -> dict[str, int]:
        """One look through every gauge, one after the other; what it told."""
        told: dict[str, int] = {}
        for gauge in self._gauges:
            sample = await gauge.look(self._now)
            self._keep(sample)
            told |= sample.known()
        return told

    def unknown(self) -> dict[str, str]:
        """The limits that no look has told anything of, each with the reason."""
        return {
            limit.name: self._why_unknown(limit.field)
            for limit in self.limits.each()
            if all(limit.value(sample) is None for sample in self.samples)
        }

    def _why_unknown(self, field: str) -> str:
        gauge = next((gauge for gauge in self._gauges if field in gauge.fields), None)
        return gauge.why_unknown(field) if gauge else self._why_no_gauge

    async def wait_for_trip(self) -> Decision:
        """Look until a limit has been crossed twice in a row, which without gauges is never; the decision."""
        if not self._gauges:
            await trio.sleep_forever()
        async with trio.open_nursery() as nursery:
            for gauge in self._gauges:
                nursery.start_soon(self._follow, gauge, nursery.cancel_scope)
        return self.decision

    async def _follow(self, gauge: Gauge, all_gauges: trio.CancelScope) -> None:
        while self.decision.action != "trip":
            await trio.sleep(next_poll_s(self.limits, self.samples, gauge.fields))
            self._keep(await gauge.look(self._now))
            self.decision = decide(self.limits, self.samples, self._now())
        all_gauges.cancel()

    def _keep(self, sample: Measured) -> None:
        self.samples.append(sample)
        while sample.t_ns - self.samples[0].t_ns > _KEPT_S * NS:
            self.samples.popleft()

    def latest(self) -> dict[str, int]:
        """The newest known value of each field, with the time of the newest look."""
        merged: dict[str, int] = {}
        for sample in self.samples:
            merged |= sample.known()
        return merged

    def trip_details(self) -> dict[str, Any]:
        """What an event keeps of a trip: why, against which limits, and the looks before it."""
        return {
            "reasons": list(self.decision.reasons),
            "limits": self.limits.described(),
            "caused_by": [sample.known() for sample in self.decision.samples],
            "samples": [sample.known() for sample in list(self.samples)[-_SHOWN:]],
        }


def refused(limits: Limits, unknown: Mapping[str, str]) -> dict[str, str]:
    """Those of the unknown limits that are required."""
    return {name: why for name, why in unknown.items() if name in limits.required}
