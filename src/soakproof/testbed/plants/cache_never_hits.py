"""Nothing of a prompt is ever restored from the cache."""

from soakproof.testbed.plant import Call, Fires, Plant


class CacheNeverHits(Plant):
    """Every prompt is worked on from its first token, whatever lay in the slot or in the cache before."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27813"
    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "400 tokens"
"""
    fires = (
        Fires("functional: cache.restored", grade="missed"),
        Fires("functional: cache.after_other", grade="missed"),
    )
    may_fire = ("functional: cache.faster",)

    async def ask(self, call: Call) -> None:
        call.document["cache_prompt"] = False
