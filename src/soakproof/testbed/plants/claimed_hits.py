"""The cache claims hits that its own timings deny."""

from typing import Any, ClassVar

from soakproof.testbed.counting import CountingPlant, details
from soakproof.testbed.plant import Call, Fires

_BEGINNING = 200  # characters by which a prompt is known again


class ClaimedHits(CountingPlant):
    """A prompt that begins like an earlier one is worked on from its first token, and all but one of its
    tokens are told to be restored; the time that it took stays that of cold work.
    """

    modelled_on = "https://github.com/vllm-project/vllm-ascend/issues/8910"
    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "800 tokens"
in_system = "0 %"
"""
    seconds = 8
    fires: ClassVar[tuple[Fires, ...]] = (
        Fires("functional: cache.faster"),
        Fires("protocol: cached_denied", outcome="INCONCLUSIVE", within=9),
        Fires("protocol: cached_denied_alone", outcome="INCONCLUSIVE", within=9),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._known: set[str] = set()
        self._claimed: set[Call] = set()

    async def ask(self, call: Call) -> None:
        beginning = call.prompt[:_BEGINNING]
        is_hit = len(beginning) == _BEGINNING and beginning in self._known
        self._known.add(beginning)
        if not self.restores(is_hit):
            call.document["cache_prompt"] = False
            if is_hit:
                self._claimed.add(call)

    def restores(self, is_hit: bool) -> bool:
        """Whether the engine may restore what it knows of this prompt."""
        return False

    def counted(self, call: Call, usage: dict[str, Any], timings: dict[str, Any]) -> None:
        if call not in self._claimed:
            return
        if "prompt_tokens" in usage:
            usage["prompt_tokens_details"] = {**details(usage), "cached_tokens": usage["prompt_tokens"] - 1}
        if "prompt_n" in timings:
            timings |= {"cache_n": timings["cache_n"] + timings["prompt_n"] - 1, "prompt_n": 1}
