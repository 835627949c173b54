"""JSON comes in a Markdown fence."""

from typing import Any

from soakproof.testbed.objects import ObjectPlant
from soakproof.testbed.plant import Call, Fires


class FencedJson(ObjectPlant):
    """Every JSON object stands in a Markdown fence, whatever response_format says."""

    modelled_on = "https://github.com/ROCm/FastFlowLM/issues/554"
    fires = (
        Fires("functional: json.strict", grade="fenced"),
        Fires("functional: json.schema", grade="fenced"),
    )

    def spoiled(self, call: Call, text: str, found: dict[str, Any]) -> str:
        return f"```json\n{text}\n```"
