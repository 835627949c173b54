"""Requests with one beginning that come at once: all but the first read what is not written yet."""

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires

_BEGINNING = 200  # characters that two requests share
_CODE = str.maketrans("BCDFGHJKMNPQRSTVWXZ479", "CDFGHJKMNPQRSTVWXZ479B")


class BurstGarbled(TextPlant):
    """A request that begins like one that is at work right now is answered with another code."""

    modelled_on = "https://github.com/vllm-project/vllm/pull/37152"
    plan = """
[mix]
shared_prefix = 1
[kind.shared_prefix]
prompt = "400 tokens"
"""
    fires = (
        Fires("functional: prefix.cold", grade="wrong"),
        Fires("functional: prefix.warm", grade="wrong"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._late: set[Call] = set()

    async def ask(self, call: Call) -> None:
        begins = call.prompt[:_BEGINNING]
        if any(other is not call and other.prompt.startswith(begins) for other in self.calls):
            self._late.add(call)

    def wants(self, call: Call) -> bool:
        return call in self._late

    def changed(self, call: Call, text: str) -> str:
        return text.translate(_CODE)
