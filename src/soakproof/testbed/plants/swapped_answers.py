"""Two requests that run at once get each other's answers."""

import asyncio

from soakproof.testbed.plant import Call, Fires, Plant


class SwappedAnswers(Plant):
    """Each of two requests that come together is answered with what the other one asked for."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/25992"
    plan = """
[mix]
isolation = 1
"""
    fires = (
        Fires("functional: isolation.own", grade="swapped"),
        Fires("functional: isolation.foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._waiting: tuple[Call, asyncio.Event] | None = None

    async def ask(self, call: Call) -> None:
        if self._waiting is None:
            other = asyncio.Event()
            self._waiting = call, other
            try:
                await asyncio.wait_for(other.wait(), 2)
            except TimeoutError:
                self._waiting = None
            return
        first, met = self._waiting
        self._waiting = None
        mine, yours = call.document["messages"], first.document["messages"]
        call.document["messages"], first.document["messages"] = yours, mine
        met.set()
