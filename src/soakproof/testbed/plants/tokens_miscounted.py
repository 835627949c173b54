"""Tokens counted wrong."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, document_of, event
from soakproof.testbed.plant import Call, Fires


class TokensMiscounted(EventPlant):
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

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is None:
            yield data
        else:
            if document.get("usage"):
                document["usage"]["completion_tokens"] //= 2
            yield event(document)
