"""An object that is whole and valid and has a wrong value in it."""

import re

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires

_CODE = re.compile(r"[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}")


class JsonValueWrong(TextPlant):
    """One code in every object that is asked for in words is another one than the prompt has."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/28211"
    plan = """
[mix]
structured_json = 1
"""
    seconds = 3
    fires = (Fires("functional: json.values", grade="wrong"),)

    def wants(self, call: Call) -> bool:
        return "response_format" not in call.document

    def changed(self, call: Call, text: str) -> str:
        return _CODE.sub(lambda found: found[0][::-1], text, count=1)
