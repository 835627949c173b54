"""More cached tokens are counted than the prompt has."""

from typing import Any

from soakproof.testbed.counting import CountingPlant, details
from soakproof.testbed.plant import Call, Fires


class CachedOverPrompt(CountingPlant):
    """Usage counts the tokens that were restored several times over."""

    default = 4
    unit = "times"
    modelled_on = "https://github.com/sgl-project/sglang/pull/12814"
    fires = (
        Fires("protocol: cached_over_prompt", outcome="INCONCLUSIVE"),
        Fires("protocol: cached_counts_disagree", outcome="INCONCLUSIVE"),
    )
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if "cached_tokens" in details(usage):
            details(usage)["cached_tokens"] *= int(self.value)
