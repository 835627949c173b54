"""Numbers that others tell, a server or an edited file, as far as they can be numbers. Pure; no I/O.

Python's integers have no end and its floats do, so that a number may be one that no sum can be made with.
"""

import math
from typing import Any

MOST = 1e15  # milliseconds or tokens: beyond thirty thousand years it is no number of either


def number(value: Any) -> float | None:
    """A finite number that is not negative, from whatever a server may have sent; else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def amount(value: Any) -> float | None:
    """A number of milliseconds or tokens, where that can be one; else None."""
    found = number(value)
    return found if found is not None and found <= MOST else None
