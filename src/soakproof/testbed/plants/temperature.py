"""Every request at a temperature above zero."""

from typing import Any

from soakproof.testbed.plant import Call, Plant


class Temperature(Plant):
    """Requests that ask for the likeliest token are answered at a temperature: a sure model says the same.

    The slots show what was asked, since it is the server's own way to sample.
    """

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

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._seeds: set[Any] = set()  # of the requests that were changed

    async def ask(self, call: Call) -> None:
        if not call.document.get("temperature"):
            call.document["temperature"] = self.value
            self._seeds.add(call.document.get("seed"))

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for slot in slots:
            params = slot.get("params", {})
            if params.get("seed") in self._seeds:
                params["temperature"] = 0.0
        return slots
