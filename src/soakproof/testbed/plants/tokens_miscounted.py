"""Tokens counted wrong."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class TokensMiscounted(CountingPlant):
    """Usage tells half of the tokens that were generated."""

    modelled_on = "https://github.com/eugr/llama-benchy/pull/11"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: completion_counts_disagree", outcome="INCONCLUSIVE"),)
    may_fire = ("protocol: total_disagrees", "protocol: fewer_tokens_than_events")
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if usage:
            usage["completion_tokens"] //= 2
