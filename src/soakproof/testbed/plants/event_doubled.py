"""A piece of the answer that comes twice."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires


class EventDoubled(EventPlant):
    """One event of every fifth answer is sent twice, as by a front that sends a piece anew after an error."""

    default = 8
    unit = "the event"
    modelled_on = "https://github.com/LuthienResearch/luthien-proxy/issues/61"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "40 tokens"
answer = "16 tokens"
"""
    users = 4
    think_time = "0s"
    seconds = 8
    fires = (Fires("protocol: events_doubled", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._sent: dict[Call, int] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        yield data
        if call.number % 5 == 0 and content(document_of(data)):
            self._sent[call] = self._sent.get(call, 0) + 1
            if self._sent[call] == self.value:
                yield data
