"""Every request at a temperature above zero."""

from soakproof.testbed.plant import Call, Plant


class Temperature(Plant):
    """Requests that ask for the likeliest token are answered at a temperature: a sure model says the same."""

    default = 0.8
    unit = "the temperature"
    harmless = True
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/19981"
    plan = """
[mix]
structured_json = 1
isolation = 1
"""
    verdict = "PASS"

    async def ask(self, call: Call) -> None:
        if not call.document.get("temperature"):
            call.document["temperature"] = self.value
