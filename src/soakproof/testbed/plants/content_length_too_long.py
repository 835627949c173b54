"""A body that is shorter than it was said to be."""

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw


class ContentLengthTooLong(Plant):
    """Every third answer is closed before as many bytes came as its head says."""

    modelled_on = "https://github.com/locustio/locust/issues/1406"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: reset", grade="reset"),)

    async def instead(self, call: Call) -> Raw | None:
        return (
            None
            if call.number % 3 or not call.stream
            else Raw(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99\r\n\r\ndata: {"
            )
        )
