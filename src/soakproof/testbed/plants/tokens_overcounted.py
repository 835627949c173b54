"""More tokens counted than were made."""

from typing import Any

from soakproof.testbed.counting import CountingPlant
from soakproof.testbed.plant import Call, Fires


class TokensOvercounted(CountingPlant):
    """Usage and timings of every short answer agree on three times the tokens that came."""

    default = 3
    unit = "times the tokens"
    modelled_on = "https://github.com/vllm-project/vllm-omni/pull/2313"
    plan = """
deck = 2
[mix]
isolation = 1
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "16 tokens"
"""
    users = 2
    think_time = "0s"
    seconds = 6
    fires = (Fires("protocol: tokens_overcounted", outcome="INCONCLUSIVE"),)
    may_fire = ("protocol: total_disagrees",)
    verdict = "INCONCLUSIVE"

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if call.document.get("ignore_eos"):
            return
        for counts, name in ((usage, "completion_tokens"), (timings, "predicted_n")):
            if name in counts:
                counts[name] = round(counts[name] * self.value)
