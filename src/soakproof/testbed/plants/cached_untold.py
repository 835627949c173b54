"""Cached tokens are told of hits alone."""

from typing import Any

from soakproof.testbed.counting import TEMPLATE, CountingPlant, details
from soakproof.testbed.plant import Call, Fires


class CachedUntold(CountingPlant):
    """Where nothing was restored usage has no number of cached tokens, as if the server never told any."""

    modelled_on = "https://github.com/kekzl/imp/pull/1984"
    fires = (Fires("protocol: cached_missing", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if details(usage).get("cached_tokens", TEMPLATE) < TEMPLATE:
            del usage["prompt_tokens_details"]
