"""Answers go to a later request than the one that asked for them."""

from collections import deque

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires


class ShiftedAnswers(TextPlant):
    """Each request gets the answer of the request before last: what is left in a queue stays there."""

    default = 2
    unit = "requests between an answer's own and the one that gets it"
    modelled_on = "https://github.com/bug-ops/zeph/issues/2326"
    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "400 tokens"
"""
    fires = (
        Fires("functional: cache.exact", grade="foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._queue: deque[str] = deque()

    def changed(self, call: Call, text: str) -> str:
        self._queue.append(text)
        return self._queue.popleft() if len(self._queue) > self.value else text
