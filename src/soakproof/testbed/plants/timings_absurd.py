"""Timings that no machine can reach."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class TimingsAbsurd(EventPlant):
    """Every second answer claims to have been decoded in a microsecond."""

    modelled_on = "https://github.com/osaurus-ai/vmlx-swift/pull/143"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("protocol: timings_absurd", outcome="INCONCLUSIVE"),)
    may_fire = ("protocol: timings_under_clock",)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None:
            yield data
        else:
            if call.number % 2 == 0 and "timings" in document:
                document["timings"] |= {"predicted_ms": 0.001, "predicted_per_second": 1e6}
            yield event(document)
