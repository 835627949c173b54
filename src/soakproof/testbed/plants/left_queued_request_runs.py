"""A request whose client left while it was queued is run all the same."""

from soakproof.testbed.plant import Call, Fires, Plant, Push


class LeftQueuedRequestRuns(Plant):
    """A client that leaves before its first token is forgotten: its request waits for its turn, takes a slot
    and runs to its end.
    """

    default = 60
    unit = "seconds"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/13262"
    plan = """
queueing = true
[mix]
cancel_queued = 1
[kind.cancel_queued]
scenario = "cancellation"
phase = "queued"
bystander = "400 tokens"
tokens = "2500 tokens"
within = "3s"
"""
    fires = (Fires("functional: cancel.released", grade="held"),)
    may_fire = ("slots: released", "slots: end")

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._begun: set[Call] = set()

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        if data.startswith(b"data:"):
            self._begun.add(call)
        await push(data)

    def lingers(self, call: Call) -> float:
        return 0.0 if call in self._begun else self.value
