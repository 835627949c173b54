"""Ctrl-C reaches the main greenlet, whoever runs when it comes."""

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, gevent
from soakproof.load.interrupt import to_main_greenlet

late = {late}
to_main_greenlet(lambda: late)

def user():
    os.kill(os.getpid(), signal.SIGINT)  # it comes while this greenlet runs
    sum(range(1_000_000))
    gevent.sleep(0.05)
    return "whole"

job = gevent.spawn(user)
try:
    gevent.sleep(1)
    print("main slept")
except KeyboardInterrupt:
    print("main was interrupted")
print("user", job.get())
"""


def outcome(late: bool) -> list[str]:
    script = SCRIPT.format(late=late)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout.splitlines()


def test_the_greenlet_that_runs_is_left_alone():
    assert outcome(late=False) == ["main was interrupted", "user whole"]


TERM = """
import os, signal, gevent
from soakproof.load.interrupt import sigterm_as_well

try:
    with sigterm_as_well():
        os.kill(os.getpid(), signal.SIGTERM)
        gevent.sleep(5)
except KeyboardInterrupt:
    print("interrupted", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
gevent.sleep(5)
print("outlived it")
"""


def test_sigterm_is_one_until_locust_listens_and_then_what_it_was():
    done = subprocess.run(
        [sys.executable, "-c", TERM], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == "interrupted\n"
    assert done.returncode == -signal.SIGTERM


HUP = """
import os, signal, gevent
from soakproof.load.interrupt import hangup_as_sigterm

signal.signal(signal.SIGHUP, signal.{handler})
gevent.signal_handler(signal.SIGTERM, lambda: print("as SIGTERM", flush=True))
hangup_as_sigterm()
os.kill(os.getpid(), signal.SIGHUP)
gevent.sleep(0.5)
"""


@pytest.mark.parametrize(("handler", "said"), [("SIG_DFL", "as SIGTERM\n"), ("SIG_IGN", "")])
def test_a_closed_terminal_is_as_sigterm_unless_under_nohup(handler: str, said: str):
    script = HUP.format(handler=handler)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == said


EARLY = """
import os, signal, time
from soakproof.load.interrupt import leave_in_words

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
leave_in_words()
os.kill(os.getpid(), signal.SIGINT)
time.sleep(5)
"""


def test_one_that_comes_before_anybody_listens_ends_in_words():
    done = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 3
    assert done.stderr == "stopped before the load began\n"


def test_one_that_comes_too_late_is_ignored():
    assert outcome(late=True) == ["main slept", "user whole"]
