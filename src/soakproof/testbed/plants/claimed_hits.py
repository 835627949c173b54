"""The cache claims hits that its own timings deny."""

from typing import Any

from soakproof.testbed.counting import CountingPlant, details
from soakproof.testbed.plant import Call, Fires

_BEGINNING = 200  # characters by which a prompt is known again


class ClaimedHits(CountingPlant):
    """A prompt that begins like an earlier one is worked on from its first token, and all but one of its
    tokens are told to be restored; the time that it took stays that of cold work.
    """

    modelled_on = "https://github.com/vllm-project/vllm-ascend/issues/8910"
    seconds = 5
    fires = (Fires("functional: cache.faster"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._known: set[str] = set()
        self._claimed: set[Call] = set()

    async def ask(self, call: Call) -> None:
        call.document["cache_prompt"] = False
        beginning = call.prompt[:_BEGINNING]
        if len(beginning) == _BEGINNING and beginning in self._known:
            self._claimed.add(call)
        self._known.add(beginning)

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if call not in self._claimed:
            return
        if "prompt_tokens" in usage:
            usage["prompt_tokens_details"] = {**details(usage), "cached_tokens": usage["prompt_tokens"] - 1}
        if "prompt_n" in timings:
            timings |= {"cache_n": timings["cache_n"] + timings["prompt_n"] - 1, "prompt_n": 1}
