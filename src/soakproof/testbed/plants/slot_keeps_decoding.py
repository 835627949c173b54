"""A slot goes on decoding after its client has left."""

from soakproof.testbed.plant import Call, Fires, Plant


class SlotKeepsDecoding(Plant):
    """A client that leaves while its answer is generated is not noticed for a while: the slot decodes on."""

    default = 8
    unit = "seconds"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/24496"
    plan = """
[mix]
cancellation = 1
[kind.cancellation]
bystander = "60 tokens"
within = "2s"
"""
    fires = (Fires("functional: cancel.released", grade="held"),)
    may_fire = ("slots: released", "slots: end")  # whether they see it is a matter of when they look

    def lingers(self, call: Call) -> float:
        return self.value
