"""Timings that no machine can reach."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class TimingsAbsurd(CountingPlant):
    """Every second answer claims to have been decoded in a microsecond."""

    modelled_on = "https://github.com/osaurus-ai/vmlx-swift/pull/143"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_absurd", outcome="INCONCLUSIVE"),)
    may_fire = ("protocol: timings_under_clock",)
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if call.number % 2 == 0 and timings:
            timings |= {"predicted_ms": 0.001, "predicted_per_second": 1e6}
