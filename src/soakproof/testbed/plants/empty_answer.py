"""An answer without a word in it that ends as if all were well."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, document_of
from soakproof.testbed.plant import Call, Fires


class EmptyAnswer(EventPlant):
    """Every third stream has its beginning and its end, finish reason included, and no text."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/13847"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: empty", grade="empty"),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        if call.number % 3 or not content(document_of(data)):
            yield data
