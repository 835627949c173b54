"""Ctrl-C, where it belongs: in the main greenlet; and the other signals that ask a run to end.

Python raises KeyboardInterrupt in whatever code runs at that moment, which under gevent may be a user's
greenlet in mid-request: the request fails by our fault, and nobody stops. A watcher of the event loop hands
the interrupt to the main greenlet instead, where Locust waits for it.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator

import gevent

from soakproof.errors import EXIT_ERROR


def leave_in_words() -> None:
    """Until somebody listens for Ctrl-C, one ends the process with a line in place of a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    print("stopped before the load began", file=sys.stderr, flush=True)
    os._exit(EXIT_ERROR)


def hangup_as_sigterm() -> None:
    """A terminal that was closed ends the run as SIGTERM does; under nohup it does not."""
    hangup = getattr(signal, "SIGHUP", None)  # which Windows has not
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        gevent.signal_handler(hangup, os.kill, os.getpid(), signal.SIGTERM)


def interrupt_main() -> None:
    """A Ctrl-C for the main greenlet."""
    gevent.get_hub().handle_system_error(KeyboardInterrupt, KeyboardInterrupt())


def to_main_greenlet(too_late: Callable[[], bool]) -> None:
    """Raise each Ctrl-C in the main greenlet, unless it is ``too_late`` for one."""

    def interrupted() -> None:
        if not too_late():
            interrupt_main()

    gevent.signal_handler(signal.SIGINT, interrupted)


@contextlib.contextmanager
def sigterm_as_well() -> Iterator[None]:
    """SIGTERM is as Ctrl-C: for the time before Locust listens to it, in which it would end us at once."""
    watcher = gevent.signal_handler(signal.SIGTERM, interrupt_main)
    try:
        yield
    finally:
        watcher.cancel()


def to_its_end(what: Callable[[], None]) -> None:
    """Call it in a greenlet of its own: whoever kills or interrupts this one does not stop it half-way.

    What it raises is raised; else that kill, or interrupt, once it has ended.
    """
    troubles: list[BaseException] = []

    def caught() -> None:
        try:
            what()
        except BaseException as error:  # raised below: gevent would print it as well
            troubles.append(error)

    greenlet = gevent.spawn(caught)
    while not greenlet.dead:
        try:
            greenlet.join()
        except BaseException as error:
            troubles.append(error)
    if troubles:
        raise troubles[-1]
