"""A request that is sent on twice."""

import asyncio

from soakproof.testbed.answers import dump
from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.upstream import Lost, fetch


class AskedTwice(Plant):
    """The front sends every long request to the engine twice, and forgets the second."""

    modelled_on = "https://github.com/routatic/proxy/issues/54"
    plan = """
[watch]
slots_every = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "1000 tokens"
"""
    seconds = 6
    fires = (Fires("delivery: twice", within=None),)
    may_fire = ("slots: released", "slots: end")

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._twins: set[asyncio.Future[None]] = set()

    async def ask(self, call: Call) -> None:
        if call.document.get("ignore_eos") and (backend := call.model.loaded()) is not None:
            body = dump(call.document | {"stream": False})
            twin = asyncio.ensure_future(_ask(backend.url, body))
            self._twins.add(twin)
            twin.add_done_callback(self._twins.discard)

    def lift(self) -> None:
        for twin in self._twins:
            twin.cancel()


async def _ask(url: str, body: bytes) -> None:
    try:
        await fetch(url, "POST", "/v1/chat/completions", body)
    except Lost:
        return  # nobody waits for it
