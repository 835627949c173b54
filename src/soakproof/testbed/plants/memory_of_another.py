"""A conversation that comes back is answered from somebody else's register."""

from typing import Any

from soakproof.testbed.plant import Call, Fires, Plant


class MemoryOfAnother(Plant):
    """What is kept for one conversation is handed to whoever asks next: each is answered as the one before it
    should be, and told its secret.
    """

    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/3228"
    plan = """
[mix]
returning = 1
[kind.returning]
prompt = "400 tokens"
other = "400 tokens"
flood = "800 tokens"
"""
    seconds = 6
    fires = (
        Fires("functional: returning.first"),
        Fires("functional: returning.others"),
        Fires("functional: returning.again"),
        Fires("functional: returning.late"),
        Fires("functional: returning.foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._before: list[dict[str, Any]] = []

    async def ask(self, call: Call) -> None:
        mine = call.document["messages"]
        if self._before and len(mine) > 1:
            call.document["messages"] = self._before
        self._before = mine
