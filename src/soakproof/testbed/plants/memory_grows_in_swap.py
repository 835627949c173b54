"""Memory that grows with each request and is paged out, so that the resident size shows nothing of it."""

import mmap

from soakproof.testbed.plant import Call, Fires, Plant

MIB = 1 << 20


class MemoryGrowsInSwap(Plant):
    """The gateway keeps more memory with every request and has it paged out, where there is swap: what
    is resident stays as it was.
    """

    default = 16
    unit = "MiB a request"
    modelled_on = "https://github.com/ollama/ollama/issues/18106"
    plan = """
[watch]
interval = "0.25s"
[mix]
structured_json = 1
"""
    policy = """
[adjudicator.growth]
least = "32 MiB"
"""
    seconds = 6
    fires = (Fires("growth: process:front", outcome="INCONCLUSIVE", within=None),)
    verdict = "INCONCLUSIVE"  # a short run can prove no leak

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._kept: list[mmap.mmap] = []

    async def ask(self, call: Call) -> None:
        memory = mmap.mmap(-1, int(self.value * MIB), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.write(b"x" * len(memory))
        memory.madvise(21)  # MADV_PAGEOUT
        self._kept.append(memory)

    def lift(self) -> None:
        while self._kept:
            self._kept.pop().close()
