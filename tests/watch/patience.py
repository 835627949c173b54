"""Waiting for what other processes do, as long as a busy machine may take for it."""

import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 30.0


def eventually(condition: Callable[[], Any], what: str = "it", patience_s: float = PATIENCE_S) -> Any:
    """What a condition gives once it holds."""
    until = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < until, f"{what} did not come to pass"
        time.sleep(0.02)
    return found
