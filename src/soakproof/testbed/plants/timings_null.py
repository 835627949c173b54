"""Timings that are null."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class TimingsNull(CountingPlant):
    """The timings of every second answer are null, or hold a rate that is."""

    modelled_on = "https://github.com/ggml-org/llama.vim/issues/86"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_null", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if call.number % 2 == 0 and timings:
            timings |= {"predicted_ms": None, "predicted_per_second": None}
