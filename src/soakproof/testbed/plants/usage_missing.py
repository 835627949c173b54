"""Answers that count no tokens."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class UsageMissing(CountingPlant):
    """No answer has usage, though it was asked for."""

    modelled_on = "https://github.com/vllm-project/vllm/pull/50677"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: usage_missing", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        document.pop("usage", None)
        return document
