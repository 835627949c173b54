"""Memory that grows with each request and is paged out, so that the resident size shows nothing of it."""

import mmap

from soakproof.testbed.plant import Call
from soakproof.testbed.plants.memory_grows import MIB, MemoryGrows


class MemoryGrowsInSwap(MemoryGrows):
    """The gateway keeps more memory with every request and has it paged out, where there is swap: what
    is resident stays as it was.
    """

    modelled_on = "https://github.com/ollama/ollama/issues/18106"

    async def ask(self, call: Call) -> None:
        memory = mmap.mmap(-1, int(self.value * MIB), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.write(b"x" * len(memory))
        memory.madvise(21)  # MADV_PAGEOUT
        self._kept.append(memory)
