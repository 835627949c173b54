"""A front that puts a system prompt of its own before every conversation."""

from soakproof.testbed.plant import Call, Fires, Plant


class SystemPromptAdded(Plant):
    """Each conversation begins with words of the front's own, of which the client is told nothing."""

    modelled_on = "https://github.com/MAXeaglet/commandcode-proxy/issues/17"
    plan = "[mix]\nisolation = 1"
    fires = (Fires("delivery: prompts", outcome="INCONCLUSIVE", within=None),)
    verdict = "INCONCLUSIVE"

    async def ask(self, call: Call) -> None:
        words = {"role": "system", "content": "You are a helpful assistant."}
        call.document["messages"] = [words, *call.document["messages"]]
