"""A request that is malformed is taken for another one and answered."""

from soakproof.testbed.plant import Call, Fires, Plant


class MalformedTaken(Plant):
    """Messages that are none are read as one of the server's own making, and answered with status 200."""

    modelled_on = "https://github.com/sgl-project/sglang/pull/31419"
    plan = """
[mix]
refusals = 1
"""
    fires = (Fires("functional: refusal.malformed", within=8),)
    seconds = 5

    async def ask(self, call: Call) -> None:
        messages = call.document.get("messages")
        right = isinstance(messages, list) and all(isinstance(m.get("content"), str) for m in messages)
        if not right:
            call.document["messages"] = [{"role": "user", "content": "Repeat exactly: hello world 12"}]
        for name, kind in (("max_tokens", int), ("temperature", (int, float))):
            if not isinstance(call.document.get(name, 1), kind):
                del call.document[name]
