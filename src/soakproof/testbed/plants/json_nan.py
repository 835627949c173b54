"""NaN stands where a JSON object has a number."""

import re
from typing import Any

from soakproof.testbed.objects import ObjectPlant
from soakproof.testbed.plant import Call, Fires

_NUMBER = re.compile(r'(?<=":)(\s*)-?\d+(\.\d+)?(?=\s*[,}])')


class JsonNan(ObjectPlant):
    """The first number of every JSON object that has one is NaN, which Python reads and JSON forbids."""

    modelled_on = "https://github.com/comet-ml/opik/pull/8456"
    seconds = 4
    fires = (
        Fires("functional: json.strict", grade="nan"),
        Fires("functional: json.schema", grade="nan"),
    )

    def spoiled(self, call: Call, text: str, found: dict[str, Any]) -> str:
        return _NUMBER.sub(r"\1NaN", text, count=1)
