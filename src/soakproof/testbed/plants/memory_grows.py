"""Memory that grows with each request and is never given back."""

from soakproof.testbed.plant import Call, Fires, Plant

MIB = 1 << 20


class MemoryGrows(Plant):
    """The gateway keeps more memory with every request."""

    default = 8
    unit = "MiB a request"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27725"
    plan = """
[watch]
interval = "0.25s"
[mix]
structured_json = 1
"""
    think_time = "0s"
    seconds = 6
    fires = (Fires("growth: process:front", outcome="INCONCLUSIVE", within=None),)
    verdict = "INCONCLUSIVE"  # a short run can prove no leak

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._kept: list[object] = []

    async def ask(self, call: Call) -> None:
        self._kept.append(b"x" * int(self.value * MIB))

    def lift(self) -> None:
        self._kept.clear()
