"""Load under Locust: the only room that imports locust or gevent.

A locustfile is two lines: `from soakproof.load import soak` and `SoakUser = soak("plan")`.
"""

import os
import sys
from typing import Any

from soakproof.errors import EXIT_USAGE


def soak(plan: str) -> Any:
    """Set Locust up to run a plan; returns the user class that a locustfile must define."""
    _current_folder_last()
    from soakproof.load.interrupt import leave_in_words

    leave_in_words()
    _refuse_a_second(plan)
    from soakproof.load.hooks import Hooks  # Locust patches the whole process: only where it is wanted
    from soakproof.load.users import SoakUser

    Hooks(plan).register()
    return SoakUser


_plans: list[str] = []  # of the locustfiles of this process


def _refuse_a_second(plan: str) -> None:
    """One process soaks one plan: Locust would start two soaks at once for two locustfiles."""
    _plans.append(plan)
    if len(_plans) > 1:
        print(
            f"soakproof: one locustfile at a time, found those of {' and '.join(_plans)}\n"
            f"  run them one after the other: locust -f locustfiles/{_plans[0]}.py …",
            file=sys.stderr,
        )
        sys.exit(EXIT_USAGE)


def _current_folder_last() -> None:
    """Locust puts it first on the import path, where a user's html.py would stand for the standard library's.

    What Locust itself has imported by now came before that, unless it was started by `python -m locust`.
    """
    sys.path.sort(key=lambda entry: entry in ("", os.getcwd()))  # all others keep their order
