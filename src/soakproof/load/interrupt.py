"""Ctrl-C, where it belongs: in the main greenlet.

Python raises KeyboardInterrupt in whatever code runs at that moment, which under gevent may be a user's
greenlet in mid-request: the request fails by our fault, and nobody stops. A watcher of the event loop hands
the interrupt to the main greenlet instead, where Locust waits for it.
"""

import signal
from collections.abc import Callable

import gevent


def to_main_greenlet(too_late: Callable[[], bool]) -> None:
    """Raise each Ctrl-C in the main greenlet, unless it is ``too_late`` for one."""

    def interrupted() -> None:
        if not too_late():
            gevent.get_hub().handle_system_error(KeyboardInterrupt, KeyboardInterrupt())

    gevent.signal_handler(signal.SIGINT, interrupted)
