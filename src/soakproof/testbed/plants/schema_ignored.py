"""A schema is accepted and not enforced."""

from soakproof.testbed.plant import Call, Fires, Plant


class SchemaIgnored(Plant):
    """The response format is dropped on its way to the engine: JSON comes, as the prompt asked for it, and
    keeps to no schema.
    """

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/24097"
    plan = """
[mix]
structured_json = 1
"""
    seconds = 3
    fires = (
        Fires("functional: json.schema", grade="unenforced"),
        Fires("functional: json.schema_values", grade="wrong"),
    )

    async def ask(self, call: Call) -> None:
        call.document.pop("response_format", None)
