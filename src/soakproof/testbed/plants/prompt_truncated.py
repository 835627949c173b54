"""A prompt over the context is cut to fit and answered as if nothing was wrong."""

from soakproof.testbed.plant import Call, Fires, Plant

FITS = 2000  # characters that surely fit


class PromptTruncated(Plant):
    """Of a prompt too long for the context only the end is read, and it is answered with status 200."""

    modelled_on = "https://github.com/ollama/ollama/issues/10974"
    plan = """
[mix]
refusals = 1
"""
    fires = (Fires("functional: refusal.context"),)

    async def ask(self, call: Call) -> None:
        last = call.document["messages"][-1] if isinstance(call.document.get("messages"), list) else {}
        text = last.get("content")
        if isinstance(text, str) and len(text) > call.model.options.context:
            last["content"] = text[-FITS:]
