"""A forced answer that ends before its length and says that it has it."""

from soakproof.testbed.plant import Call, Fires, Plant


class ShortOfLength(Plant):
    """The engine is asked for half of the tokens that the client wants; the finish reason says length."""

    modelled_on = "https://github.com/BerriAI/litellm/issues/25825"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "60 tokens"
"""
    seconds = 3
    fires = (Fires("functional: prose.length"),)
    may_fire = ("delivery: parameters",)  # where a slot is seen at work

    async def ask(self, call: Call) -> None:
        for name in ("max_tokens", "max_completion_tokens", "n_predict"):
            if isinstance(call.document.get(name), int):
                call.document[name] = max(1, call.document[name] // 2)
