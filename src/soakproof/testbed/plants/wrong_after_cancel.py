"""The first answer after a cancel is wrong."""

from soakproof.testbed.events import NextAnswerPlant
from soakproof.testbed.plant import Call, Fires


class WrongAfterCancel(NextAnswerPlant):
    """The next request that is sent after a client has left is answered with other words."""

    modelled_on = "https://github.com/am17an/llama.cpp/issues/20"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
bystander = "60 tokens"
"""
    fires = (Fires("functional: cancel.after"),)

    def client_left(self, call: Call) -> None:
        super().client_left(call)
        self.armed = True

    def changed(self, call: Call, text: str) -> str:
        return text.swapcase()[::-1]
