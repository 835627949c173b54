"""The number of cached tokens is below zero."""

from typing import Any

from soakproof.testbed.counting import TEMPLATE, CountingPlant, details
from soakproof.testbed.plant import Call, Fires


class CachedNegative(CountingPlant):
    """Where nothing was restored usage tells of -1 cached tokens: the count was never set."""

    modelled_on = "https://github.com/vllm-project/vllm/pull/30189"
    fires = (Fires("protocol: bad_count", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if details(usage).get("cached_tokens", TEMPLATE) < TEMPLATE:
            details(usage)["cached_tokens"] = -1
