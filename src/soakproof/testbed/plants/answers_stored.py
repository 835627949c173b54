"""A cache of answers that takes different prompts for the same."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant
from soakproof.testbed.plant import Call, Fires


class AnswersStored(EventPlant):
    """Every long answer is the first one over again, event for event: its words, its id and its times."""

    modelled_on = "https://github.com/vllm-project/semantic-router/issues/3423"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "60 tokens"
"""
    fires = (Fires("delivery: stored"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._first: Call | None = None
        self._kept: list[bytes] = []
        self._given: dict[Call, int] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if not call.document.get("ignore_eos") or self._first in {None, call}:
            if call.document.get("ignore_eos"):
                self._first = call
                self._kept.append(data)
            yield data
            return
        given = self._given.get(call, 0)
        self._given[call] = given + 1
        yield self._kept[given] if given < len(self._kept) else b""
