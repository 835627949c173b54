"""System prompts never reach the model."""

from soakproof.testbed.plant import Call, Fires, Plant


class SystemPromptDropped(Plant):
    """The system prompt is left out of every conversation, and what is left of it is answered."""

    modelled_on = "https://github.com/InternLM/lmdeploy/issues/464"
    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "900 tokens"
in_system = "100 %"
"""
    fires = (
        Fires("functional: cache.exact", grade="wrong_of_system"),
        Fires("protocol: prompt_cut"),
    )
    may_fire = ("functional: cache.faster", "functional: cache.restored", "functional: cache.after_other")

    async def ask(self, call: Call) -> None:
        messages = call.document["messages"]
        call.document["messages"] = [m for m in messages if m["role"] != "system"]
