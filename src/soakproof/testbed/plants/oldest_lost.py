"""The oldest part of a long prompt is lost."""

from soakproof.testbed.plant import Call, Fires, Plant

_CHARACTERS = 2.5  # a token, about


class OldestLost(Plant):
    """Of a prompt that fills more than a share of the slot's context the oldest quarter is lost without a
    word, and the question at its end is answered from the rest.
    """

    default = 5
    unit = "% of a slot's context"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27556"
    plan = """
[mix]
near_context = 1
[kind.near_context]
prompt = "1600 tokens"
"""
    seconds = 5
    fires = (Fires("functional: context.start", grade="beyond_batch"),)
    lost = (0.0, 0.25)  # of such a prompt's lines: from, to

    async def ask(self, call: Call) -> None:
        options = call.model.options
        room = options.context / options.slots * self.value / 100
        if len(call.prompt) / _CHARACTERS > room:
            lines = call.prompt.split("\n")
            first, last = (int(len(lines) * share) for share in self.lost)
            call.document["messages"][-1]["content"] = "\n".join(lines[:first] + lines[last:])
