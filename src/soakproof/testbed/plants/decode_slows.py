"""Decoding that becomes slower and slower."""

import asyncio
import time
from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of, event
from soakproof.testbed.plant import Call, Fires

_AT_FIRST = 100.0  # tokens a second


class DecodeSlows(EventPlant):
    """Tokens come at a pace that slackens from when it was planted on, and the timings say so as well."""

    default = 1
    unit = "% a minute"
    proof_value = 400
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/22360"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "24 tokens"
"""
    policy = """
[adjudicator.throughput]
drift_from = "5s"
"""
    think_time = "0s"
    seconds = 16
    fires = (Fires("throughput: long_prose drift", within=None),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._since = time.monotonic()
        self._sent: dict[Call, list[float]] = {}

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        times = self._sent.setdefault(call, [])
        if content(document):
            minutes = (time.monotonic() - self._since) / 60
            due = times[-1] + (1 + self.value / 100 * minutes) / _AT_FIRST if times else 0.0
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            times.append(max(due, time.monotonic()))
        elif document is not None and "timings" in document and len(times) > 1:
            took = times[-1] - times[0]
            rate = {"predicted_ms": took * 1000, "predicted_per_second": (len(times) - 1) / took}
            data = event(document | {"timings": document["timings"] | rate})
        yield data
