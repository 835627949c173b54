"""Children never outlive their parent, however it goes, and are told by pid and start time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from soakproof.children import end, guard_lifeline, is_alive, python, spawn, tell

_CHILD = """
import sys, time
from soakproof.children import guard_lifeline
guard_lifeline(on_line=lambda line: print("heard", line.decode(), flush=True))
print("up", flush=True)
time.sleep(60)
"""
_PARENT = f"""
import sys
from soakproof.children import spawn
child = spawn([sys.executable, "-c", {_CHILD!r}])
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""
_STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""


def line(child: "subprocess.Popen[bytes]") -> bytes:
    assert child.stdout is not None
    return child.stdout.readline()


def wait_until_gone(process: psutil.Process) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.02)
    pytest.fail(f"{process} is still there")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_ends_with_its_parent(how: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child = psutil.Process(int(line(parent)))
    parent.send_signal(how)
    parent.communicate()
    wait_until_gone(child)


_ORDERLY = """
import os, sys, time
from pathlib import Path
from soakproof.children import guard_lifeline

def leave():
    Path(sys.argv[1]).write_text("in order")
    os._exit(0)

guard_lifeline(on_end=leave)
print("up", flush=True)
time.sleep(60)
"""
_PARENT_OF_ORDERLY = f"""
import sys
from soakproof.children import spawn
child = spawn([sys.executable, "-c", {_ORDERLY!r}, sys.argv[1]])
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


def stopped_child_of(*command: str) -> tuple["subprocess.Popen[bytes]", psutil.Process]:
    """A parent, and its child, which is stopped."""
    parent = subprocess.Popen([sys.executable, "-c", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child = psutil.Process(int(line(parent)))
    child.suspend()
    while child.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    return parent, child


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_a_stopped_child_ends_with_its_parent() -> None:
    parent, child = stopped_child_of(_PARENT)
    parent.kill()
    parent.communicate()
    wait_until_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_a_stopped_child_is_woken_by_its_parents_death_and_leaves_in_order(tmp_path: Path) -> None:
    parent, child = stopped_child_of(_PARENT_OF_ORDERLY, str(tmp_path / "left"))
    parent.kill()
    parent.communicate()
    wait_until_gone(child)
    assert (tmp_path / "left").read_text() == "in order"


def test_a_child_hears_lines_and_ends_with_its_lifeline() -> None:
    child = spawn([sys.executable, "-c", _CHILD])
    assert line(child) == b"up\n"
    tell(child, "drain")
    assert line(child) == b"heard drain\n"
    assert end(child) == 0
    tell(child, "nobody hears this")


def test_a_child_that_ignores_everything_is_killed() -> None:
    child = spawn([sys.executable, "-c", _STUBBORN])
    assert line(child) == b"up\n"
    assert end(child, patience=0.2) == -signal.SIGKILL


def test_a_child_has_a_session_of_its_own(tmp_path: Path) -> None:
    """A terminal's Ctrl-C goes to its whole process group: ours must not be in it."""
    log = tmp_path / "errors.log"
    child = spawn([sys.executable, "-c", "import sys; sys.stderr.write('trouble'); print(1)"], log=log)
    sessions = os.getsid(0), child.pid
    assert sessions[0] != sessions[1]
    assert line(child) == b"1\n"
    end(child)
    assert log.read_text() == "trouble"


def test_a_process_that_was_not_spawned_has_no_lifeline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOAKPROOF_LIFELINE", raising=False)
    guard_lifeline(on_end=lambda: pytest.fail("there is no parent to lose"))


def test_a_process_is_told_by_its_start_time() -> None:
    me = psutil.Process()
    assert is_alive(me.pid, me.create_time())
    assert not is_alive(me.pid, me.create_time() - 1)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    created = psutil.Process(gone.pid).create_time()
    os.waitid(os.P_PID, gone.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(gone.pid, created)  # a zombie
    gone.wait()
    assert not is_alive(gone.pid, created)


def test_our_own_modules_run_in_this_interpreter() -> None:
    assert python("soakproof.testbed", "--port", "0") == [
        sys.executable,
        "-P",
        "-m",
        "soakproof.testbed",
        "--port",
        "0",
    ]
