"""Answers without timings."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class TimingsMissing(CountingPlant):
    """Every second answer has no timings."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/12137"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_missing", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        if call.number % 2 == 0:
            document.pop("timings", None)
        return document
