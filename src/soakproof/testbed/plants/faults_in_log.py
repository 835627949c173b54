"""An engine whose own log tells of faults, while it serves as ever."""

from soakproof.testbed.plant import Call, Fires, Plant

_LINES = (
    "ggml_vulkan: Device memory allocation of size 369827840 failed.",
    "CUDA error: an illegal memory access was encountered",
    "terminate called after throwing an instance of 'vk::DeviceLostError'",
    "/src/llama-kv-cache.cpp:1182: GGML_ASSERT(cells.is_empty(i)) failed",
    "2026-11-30 12:00:00.000 [Error] (BackendWatchdog) llama-server backend marked unavailable: backend "
    "process exited during streaming request; reaped exited backend",
)


class FaultsInLog(Plant):
    """As one request comes, the engine's log gains a line for each class of fault that a server tells of
    itself: memory refused, an error of the GPU, a lost GPU, a failed assertion, a backend given up.
    """

    default = 7
    unit = "which request"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/25080"
    plan = """
[mix]
structured_json = 1
"""
    fires = tuple(
        Fires(f"server_log: {told}", within=None)
        for told in ("out_of_memory", "device_error", "device_lost", "crash", "backend_lost")
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = 0

    async def ask(self, call: Call) -> None:
        self._asked += 1
        if self._asked == self.value and (backend := call.model.loaded()) is not None:
            backend.log(_LINES)
