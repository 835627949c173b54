"""How a load ended, in words for every place that tells it. Pure; no I/O."""

from collections.abc import Mapping
from typing import Any

from soakproof.plain import plain

EARLY = ("interrupt", "stopped")  # somebody ended it before its time
GUARD, UNGUARDED = "guard", "unguarded"
NEVER_CLEAN = (GUARD, UNGUARDED)  # the host gave reason to end it, or nobody looked whether it does
_WORDS = {
    "time": "its time was up",
    "interrupt": "it was interrupted before its time was up",
    "stopped": "it was stopped before its time was up",
    GUARD: "the guard ended it before its time was up",
    UNGUARDED: "it was ended before its time was up, since its guard was lost",
    "error": "it could not be carried out",
}


def how_ended(ended: Any) -> str:
    """Of ``{why, reason}`` as run.json and raw.json have it, without the reason; "" where nothing is told."""
    why = ended.get("why") if isinstance(ended, Mapping) else None
    return _WORDS.get(str(why), f"ended by {plain(why, 40)}") if why else ""
