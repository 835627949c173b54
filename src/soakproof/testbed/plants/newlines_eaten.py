"""Line breaks are lost on the way."""

from collections.abc import AsyncIterator

from soakproof.testbed.events import EventPlant, content, delta, document_of, event
from soakproof.testbed.plant import Call, Fires


class NewlinesEaten(EventPlant):
    """A piece of an answer that has a line break comes with a space in its place."""

    modelled_on = "https://github.com/spring-ai-community/spring-ai-agentcore/issues/11"
    plan = """
[mix]
isolation = 1
[kind.isolation]
without_marker = "100 %"
"""
    seconds = 3
    fires = (Fires("functional: isolation.own", grade="slip"),)

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if document is not None and "\n" in content(document):
            delta(document)["content"] = content(document).replace("\n", " ")
            yield event(document)
        else:
            yield data
