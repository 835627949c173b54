"""Load under Locust: the only room that imports locust or gevent.

A locustfile is two lines: `from soakproof.load import soak` and `SoakUser = soak("plan")`.
"""

from typing import Any

from soakproof.load.hooks import Hooks
from soakproof.load.users import SoakUser


def soak(plan: str) -> Any:
    """Set Locust up to run a plan; returns the user class that a locustfile must define."""
    Hooks(plan).register()
    return SoakUser
