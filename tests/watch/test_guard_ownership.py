"""Which processes a guard takes for the command's: all of them, and never one that it did not launch."""

import subprocess
import sys
from pathlib import Path

import pytest

from soakproof.watch.guard.child import is_supported
from soakproof.watch.guard.ownership import owned
from soakproof.watch.guard.processes import Process

GUARD, COMMAND = 10, 20


def process(pid: int, parent: int, session: int, start_ticks: int = 1) -> Process:
    return Process(pid, start_ticks=start_ticks, parent=parent, session=session, state="S", name="p")


@pytest.mark.parametrize(
    ("other", "is_own"),
    [
        (process(30, COMMAND, 30), True),
        (process(30, GUARD, COMMAND), True),  # its parent has left it
        (process(30, GUARD, 30), False),  # an orphan of somebody else's, or the guard's own helper
        (process(31, 30, 30), False),
        (process(40, GUARD, 40), True),  # it has the mark
        (process(41, 40, 41), True),
        (process(50, GUARD, 50, start_ticks=7), True),  # it was seen below the command
        (process(50, GUARD, 50, start_ticks=8), False),  # its pid was used again
        (process(30, 1, 30), False),
    ],
)
def test_signs_of_ownership(other: Process, is_own: bool) -> None:
    there = [process(GUARD, 1, 5), process(COMMAND, GUARD, COMMAND)]
    if other.parent not in (1, GUARD, COMMAND):
        there.append(process(other.parent, GUARD, other.parent))
    found = owned([*there, other], GUARD, {(COMMAND, 1), (50, 7)}, lambda p: p.pid == 40)
    assert (other in found) is is_own
    assert there[0] not in found


# Three processes that are not the command's: started before it, below that one, left by a stranger after it.
_BESIDE = """
import os, signal, subprocess, sys, time, trio
from soakproof.watch.guard.child import Child, is_alone
from soakproof.watch.guard.ending import end
from soakproof.watch.guard.processes import find, is_there

def pids(count):
    while len(told := open(path).read().split()) < count:
        time.sleep(0.02)
    return sorted(map(int, told))

path = sys.argv[1]
open(path, "x"), open(path + ".own", "x")
sidecar = f"exec >&2; sleep 100 & echo $! $$ >>{path}; exec sleep 100"
before = subprocess.Popen(["sh", "-c", sidecar], start_new_session=True)
pids(2)
daemons = "(setsid sleep 100 & echo $!); (env -i sleep 100 & echo $!); echo $$; exec sleep 100"
child = Child(["sh", "-c", f"exec >{path}.own; {daemons}"], alone=is_alone())
subprocess.run(["sh", "-c", f"setsid sleep 100 >&2 & echo $! >>{path}"])
strangers = [find(pid) for pid in pids(3)]
path += ".own"
own = pids(3)
ended = trio.run(end, child.tree, 10.0)
print(sorted(ended.asked) == own, ended.left, [is_there(process) for process in strangers])
for process in strangers:
    os.kill(process.pid, signal.SIGKILL)
for process in strangers:
    os.waitpid(process.pid, 0)
"""


@pytest.mark.skipif(not is_supported(), reason="the guard is for Linux")
def test_what_was_not_launched_is_not_ended(tmp_path: Path) -> None:
    """A daemon of the command's is, and one without an environment; strangers that it adopted are not."""
    code = [sys.executable, "-c", _BESIDE, tmp_path / "pids"]
    done = subprocess.run(code, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert done.stdout == "True () [True, True, True]\n"


# The guard had nothing below it: a daemon that shows no sign at all, orphaned at once, is the command's too.
_ALONE = """
import pathlib, subprocess, sys, time, trio
from soakproof.watch.guard.child import Child, is_alone
from soakproof.watch.guard.ending import end

path = pathlib.Path(sys.argv[1])
path.touch()
alone = is_alone()
helper = subprocess.Popen(["sleep", "100"])  # the guard's own, such as journalctl, in its session
child = Child(["sh", "-c", f"(env -i setsid sleep 100 & echo $! >{path}); exec sleep 100"], alone=alone)
while not (told := path.read_text()):
    time.sleep(0.02)
while "sleep" not in pathlib.Path(f"/proc/{int(told)}/comm").read_text():
    time.sleep(0.02)
ended = trio.run(end, child.tree, 10.0)
print(int(told) in ended.asked, ended.left, helper.poll())
helper.kill(), helper.wait()
"""


@pytest.mark.skipif(not is_supported(), reason="the guard is for Linux")
def test_a_guard_that_had_no_children_ends_all_that_came_below_it(tmp_path: Path) -> None:
    code = [sys.executable, "-c", _ALONE, tmp_path / "pid"]
    done = subprocess.run(code, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    assert done.stdout == "True () None\n"
