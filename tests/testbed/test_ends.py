"""However the pair ends, nothing is left: no process, no open port."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from wire import Connection, endless, entry, is_running, port_is_open, wait_for

from soakproof.testbed.launch import Testbed

SOON = 10.0  # seconds; a second or so on a quiet host
PARENT = """
import sys, time
from pathlib import Path
from soakproof.testbed.launch import Testbed
pair = Testbed.start(Path(sys.argv[1]))
print(pair.url, pair.backend_url, pair.pid, pair.backend_pid, flush=True)
time.sleep(120)
"""


def nothing_left(pair: Testbed) -> bool:
    here = [is_running(pid) for pid in pair.pids]
    return not any(here) and not port_is_open(pair.url) and not port_is_open(pair.backend_url)


def test_stopping_leaves_nothing_even_with_streams_open(own: Testbed):
    streams = [Connection(own.url).send(endless(n)).until(b"delta") for n in (1, 2)]
    own.stop()
    assert nothing_left(own)
    assert not own.alive
    for stream in streams:
        stream.to_the_end()
    own.stop()  # twice is as good as once


def test_a_killed_gateway_takes_its_engine_along(own: Testbed):
    os.kill(own.pid, signal.SIGKILL)
    wait_for(lambda: nothing_left(own), within=SOON)
    own.stop()  # there is nothing to do, and no complaint


def test_a_killed_gateway_takes_a_replaced_engine_along(own: Testbed):
    os.kill(own.backend_pid, signal.SIGKILL)
    stream = Connection(own.url).send(endless(5)).until(b"delta")
    now = entry(own.url)
    assert now is not None
    os.kill(own.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(now["pid"]), within=SOON)
    stream.close()


@pytest.mark.parametrize("stopped", [(), (0,), (0, 1)], ids=["none", "gateway", "both"])
def test_a_killed_parent_takes_both_along(tmp_path: Path, stopped: tuple[int, ...]):
    """A stopped process hears neither an end of file nor SIGTERM."""
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        url, backend_url, *pids = parent.stdout.readline().split()
        stream = Connection(url).send(endless(6)).until(b"delta")
        for number in stopped:
            os.kill(int(pids[number]), signal.SIGSTOP)
        parent.kill()
        wait_for(lambda: not any(is_running(int(pid)) for pid in pids), within=SOON)
        wait_for(lambda: not port_is_open(url) and not port_is_open(backend_url), within=SOON)
        stream.close()


def test_an_engine_told_to_end_while_idle_ends_in_order(own: Testbed):
    os.kill(own.backend_pid, signal.SIGTERM)
    wait_for(lambda: entry(own.url) is None, within=SOON)
    assert not is_running(own.backend_pid)
