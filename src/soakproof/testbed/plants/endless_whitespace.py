"""Structured output loses itself in white space."""

from soakproof.testbed.plant import Call, Fires, Plant

_BLANK = 'root ::= "{" blank\nblank ::= [ \\n] blank'


class EndlessWhitespace(Plant):
    """Of an answer under a schema only the opening brace comes, and then white space until max_tokens."""

    modelled_on = "https://github.com/jundot/omlx/issues/2990"
    plan = """
[mix]
structured_json = 1
[kind.structured_json]
tokens = "300 tokens"
"""
    seconds = 3
    fires = (Fires("functional: json.schema", grade="whitespace"),)

    async def ask(self, call: Call) -> None:
        if call.document.pop("response_format", None) is not None:
            call.document["grammar"] = _BLANK
