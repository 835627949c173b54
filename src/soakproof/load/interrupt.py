"""Ctrl-C, where it belongs: in the main greenlet.

Python raises KeyboardInterrupt in whatever code runs at that moment, which under gevent may be a user's
greenlet in mid-request: the request fails by our fault, and nobody stops. A watcher of the event loop hands
the interrupt to the main greenlet instead, where Locust waits for it.
"""

import contextlib
import signal
from collections.abc import Callable, Iterator

import gevent


def _interrupt() -> None:
    gevent.get_hub().handle_system_error(KeyboardInterrupt, KeyboardInterrupt())


def to_main_greenlet(too_late: Callable[[], bool]) -> None:
    """Raise each Ctrl-C in the main greenlet, unless it is ``too_late`` for one."""

    def interrupted() -> None:
        if not too_late():
            _interrupt()

    gevent.signal_handler(signal.SIGINT, interrupted)


@contextlib.contextmanager
def sigterm_as_well() -> Iterator[None]:
    """SIGTERM is as Ctrl-C: for the time before Locust listens to it, in which it would end us at once."""
    watcher = gevent.signal_handler(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        watcher.cancel()
