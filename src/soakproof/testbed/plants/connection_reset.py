"""A connection is reset before any answer."""

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw


class ConnectionReset(Plant):
    """Every third request is taken, and its connection is reset."""

    modelled_on = "https://github.com/locustio/locust/issues/1406"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: reset", grade="reset"),)

    async def instead(self, call: Call) -> Raw | None:
        return None if call.number % 3 or not call.stream else Raw(b"", "reset")
