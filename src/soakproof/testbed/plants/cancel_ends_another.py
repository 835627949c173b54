"""A client that leaves takes another one's stream with it."""

from soakproof.testbed.plant import Call, Fires, Plant


class CancelEndsAnother(Plant):
    """When a client leaves, the oldest stream of somebody else ends as well, in good order."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/pull/16467"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
bystander = "400 tokens"
within = "5s"
"""
    fires = (
        Fires("functional: cancel.bystander"),
        Fires("functional: exchanges: cut", grade="cut"),
    )

    def client_left(self, call: Call) -> None:
        others = [other for other in self.calls if other is not call and other.stream and not other.left]
        if others:
            min(others, key=lambda other: other.number).cut()
