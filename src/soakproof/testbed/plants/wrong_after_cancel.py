"""The first answer after a cancel is wrong."""

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires


class WrongAfterCancel(TextPlant):
    """The next request that is sent after a client has left is answered with other words."""

    modelled_on = "https://github.com/am17an/llama.cpp/issues/20"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
bystander = "60 tokens"
"""
    fires = (Fires("functional: cancel.after"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._armed = False
        self._wrong: Call | None = None

    def client_left(self, call: Call) -> None:
        super().client_left(call)
        self._armed = True

    async def ask(self, call: Call) -> None:
        if self._armed:
            self._armed, self._wrong = False, call

    def wants(self, call: Call) -> bool:
        return call is self._wrong

    def changed(self, call: Call, text: str) -> str:
        return text.swapcase()[::-1]
