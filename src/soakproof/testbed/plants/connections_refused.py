"""A front that is not there for a moment."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant, Push


class ConnectionsRefused(Plant):
    """After each sixth answer the front takes no connection for a while, as one that is started anew."""

    default = 700
    unit = "milliseconds"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/1357"
    plan = """
[mix]
isolation = 1
"""
    think_time = "300ms"
    fires = (Fires("functional: exchanges: connect", grade="connect"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._refusing: asyncio.Future[None] | None = None

    async def end(self, call: Call, push: Push) -> None:
        if call.number % 6 == 0 and (self._refusing is None or self._refusing.done()):
            self._refusing = asyncio.ensure_future(call.connection.front.refuse(self.value / 1000))
