"""Load under Locust: the only room that imports locust or gevent.

A locustfile is two lines: `from soakproof.load import soak` and `SoakUser = soak("plan")`.
"""

from typing import Any


def soak(plan: str) -> Any:
    """Set Locust up to run a plan; returns the user class that a locustfile must define."""
    from soakproof.load.hooks import Hooks  # Locust patches the whole process: only where it is wanted
    from soakproof.load.users import SoakUser

    Hooks(plan).register()
    return SoakUser
