"""A JSON object has a key twice."""

import json
from typing import Any

from soakproof.testbed.objects import ObjectPlant
from soakproof.testbed.plant import Call, Fires


class DuplicateKeys(ObjectPlant):
    """The first field of every JSON object comes once more at its end; lenient readers do not notice."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/pull/19753"
    fires = (
        Fires("functional: json.strict", grade="duplicate_key"),
        Fires("functional: json.schema", grade="duplicate_key"),
    )

    def spoiled(self, call: Call, text: str, found: dict[str, Any]) -> str:
        first = json.dumps(dict([next(iter(found.items()))]))
        return f"{text.rstrip().removesuffix('}').rstrip()}, {first.removeprefix('{')}"
