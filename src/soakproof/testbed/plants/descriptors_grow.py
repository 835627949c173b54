"""File descriptors that are opened with each request and never closed."""

import os

from soakproof.testbed.plant import Call, Fires, Plant


class DescriptorsGrow(Plant):
    """The gateway opens files with every request and forgets to close them."""

    default = 40
    unit = "descriptors a request"
    modelled_on = "https://github.com/Xpra-org/xpra/issues/3181"
    plan = """
[watch]
interval = "0.25s"
[mix]
structured_json = 1
"""
    think_time = "0s"
    seconds = 6
    fires = (Fires("growth: process:front fds", within=None),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._open: list[int] = []

    async def ask(self, call: Call) -> None:
        self._open += [os.open(os.devnull, os.O_RDONLY) for _ in range(int(self.value))]

    def lift(self) -> None:
        while self._open:
            os.close(self._open.pop())
