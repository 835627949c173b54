"""Reasons to end the load before its time, by what the watch tells of the host as it goes. Pure.

What follows a fault of the GPU proves nothing more, and may cost the host; a host without memory kills.
"""

from collections.abc import Mapping
from typing import Any

from soakproof.plan import GuardSettings

_MIB = 2**20


def reason_to_end(guard: GuardSettings, told: Mapping[str, Any]) -> str:
    """In words; empty while the load may go on. ``told`` is the watch's newest line."""
    if guard.kernel and told.get("fatal"):
        return "the kernel logged a fault that nothing can be trusted after"
    available = told.get("available_bytes")
    if guard.memory and available is not None and available < guard.memory:
        return f"{available / _MIB:.0f} MiB of memory are available, less than {guard.memory / _MIB:.0f} MiB"
    return ""
