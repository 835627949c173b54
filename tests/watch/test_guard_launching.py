"""`soakproof guard` with real processes: what it launches, passes on, ends, refuses and records."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from patience import PATIENCE_S, eventually

from soakproof.cli import main
from soakproof.records import Event
from soakproof.run import Loaded, all_of, load, recover
from soakproof.watch.guard.child import is_supported
from soakproof.watch.guard.guarded import EXIT_TRIPPED

pytestmark = pytest.mark.skipif(not is_supported(), reason="the guard is for Linux")
GFX1151 = Path(__file__).parent / "trees" / "gfx1151"
CATALOGUED = "amdgpu 0000:c3:00.0: amdgpu: GPU reset begin!. Source:  1"
# The launch alone, with the files of a written host in place of this one's.
_LAUNCH = """
import sys
from pathlib import Path
from soakproof.errors import SoakproofError
from soakproof.watch.guard.launching import Order, launch
from soakproof.watch.guard.limits import Limits

def say(line):
    print("guard:", line, file=sys.stderr, flush=True)

options = eval(sys.argv[1])
limits = Limits(**options.pop("limits", {}))
try:
    order = Order(command=sys.argv[2:], limits=limits, **options)
    sys.exit(launch(order, say, lambda line: line and say(line)))
except SoakproofError as error:
    say(str(error))
    sys.exit(error.exit_code)
"""


@pytest.fixture(scope="module", autouse=True)
def no_other_backend() -> None:
    """Beside a real one nothing is launched; whoever has one running is told, by name."""
    names = ("llama-server", "lemond", "lemonade-server")
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in names:
            pytest.skip(f"{process.info['name']}, pid {process.pid}, runs on this machine")


class Guard:
    """A guard that runs, and all that it says."""

    def __init__(self, folder: Path, command: Sequence[str], options: dict[str, Any]) -> None:
        self.folder = folder
        given = {"runs": folder / "guards", "kmsg": str(folder / "host/kmsg")} | options
        text = repr({k: str(v) if isinstance(v, Path) else v for k, v in given.items()})
        text = text.replace("'runs': ", "'runs': Path(", 1).replace("guards'", "guards')", 1)
        self.said = folder / "said"
        with self.said.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _LAUNCH, text, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )

    def words(self) -> str:
        return self.said.read_text()

    def line(self) -> str:
        """The next line of the command's own output."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().strip()

    def end(self) -> int:
        return self.process.wait(PATIENCE_S)

    @property
    def record(self) -> Loaded:
        (path,) = all_of(self.folder / "guards")
        return load(path)

    def events(self, what: str) -> list[dict[str, Any]]:
        return [r.details for r in self.record.records if isinstance(r, Event) and r.what == what]


Launcher = Callable[..., Guard]


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A written host with 20 GiB available and 46 GiB of GTT in use, whose files a test may change."""
    shutil.copytree(GFX1151, tmp_path / "host")
    (tmp_path / "host/kmsg").write_text("4,1,1,-;before the start\n")
    return tmp_path / "host"


@pytest.fixture
def launched(tmp_path: Path, host: Path) -> Iterator[Launcher]:
    """Launch a command under a guard of the written host."""
    guards: list[Guard] = []

    def start(*command: str, **options: Any) -> Guard:
        roots = {"proc_root": host / "proc", "sys_root": host / "sys"}
        guards.append(Guard(tmp_path, command, roots | options))
        return guards[-1]

    yield start
    for guard in guards:
        if guard.process.poll() is None:
            guard.process.kill()
        guard.process.wait()
        assert guard.process.stdout is not None
        guard.process.stdout.close()


def python(code: str) -> tuple[str, str, str]:
    return sys.executable, "-c", code


def available(host: Path, mib: int) -> None:
    """Write a new meminfo, whole at once."""
    lines = (host / "proc/meminfo").read_text().splitlines()
    lines = [f"MemAvailable: {mib * 1024} kB" if n.startswith("MemAvailable") else n for n in lines]
    (host / "new").write_text("\n".join(lines) + "\n")
    (host / "new").replace(host / "proc/meminfo")


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


# -- what passes through


@pytest.mark.parametrize(
    ("command", "code"),
    [(("sh", "-c", "exit 7"), 7), (("sh", "-c", "kill -9 $$"), 137)],
)
def test_the_exit_code_passes_through(launched: Launcher, command: tuple[str, ...], code: int) -> None:
    guard = launched(*command)
    assert guard.end() == code
    record = guard.record
    assert record.seal.problems == ()
    assert record.seal.sealed
    assert record.raw is not None
    assert (record.raw["outcome"], record.raw["exit_code"]) == ("clean", code)
    assert record.run["guard"]["command"][-len(command) :] == list(command)


def test_its_record_is_listed_and_not_judged(launched: Launcher, tmp_path: Path) -> None:
    guard = launched("true")
    assert guard.end() == 0
    soakproof = [sys.executable, "-P", "-m", "soakproof"]
    runs = ("--runs", str(tmp_path / "guards"))
    wide = os.environ | {"COLUMNS": "200"}
    said = subprocess.run([*soakproof, "runs", *runs], capture_output=True, text=True, env=wide, check=True)
    assert "guard of true" in said.stdout
    subprocess.run([*soakproof, "verify", "latest", *runs], check=True)
    judged = subprocess.run([*soakproof, "adjudicate", "latest", *runs], capture_output=True, check=False)
    assert judged.returncode == 64
    assert b"is the record of a guard" in judged.stderr


def test_the_output_is_the_commands_own_and_its_input_too(launched: Launcher) -> None:
    guard = launched("sh", "-c", "echo out; cat")
    assert guard.line() == "out"
    assert guard.line() == ""
    assert guard.end() == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_signals_pass_through(launched: Launcher, name: str) -> None:
    code = (
        "import signal, sys, time\n"
        f"signal.signal(signal.{name}, lambda *_: sys.exit(33))\n"
        "print('up', flush=True)\n"
        "while True: time.sleep(0.05)"
    )
    guard = launched(*python(code))
    assert guard.line() == "up"
    guard.process.send_signal(getattr(signal, name))
    assert guard.end() == 33
    assert guard.events("signal_passed_on") == [{"name": name, "reached": True}]


def test_a_guard_is_not_stopped_by_a_terminal(launched: Launcher) -> None:
    """Its command has a session of its own, and would run on unguarded."""
    guard = launched("sh", "-c", "echo up; exec sleep 100")
    assert guard.line() == "up"
    guard.process.send_signal(signal.SIGTSTP)
    eventually(lambda: "Ctrl-Z is not taken" in guard.words())
    assert psutil.Process(guard.process.pid).status() != psutil.STATUS_STOPPED
    guard.process.send_signal(signal.SIGTERM)
    assert guard.end() == 143


_JOURNAL = """#!/bin/sh
echo '{"MESSAGE": "before", "_TRANSPORT": "kernel", "__MONOTONIC_TIMESTAMP": "1", "PRIORITY": "6"}'
exec sleep 1000
"""


def test_what_escaped_is_ended_also_where_the_journal_is_read(
    launched: Launcher, host: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """journalctl is a child of the guard's that no command has started."""
    (tmp_path / "journalctl").write_text(_JOURNAL)
    (tmp_path / "journalctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    escape = "(env -i setsid sleep 100 & echo $!); exec sleep 100"
    limits = {"available_floor_bytes": 2**30}
    guard = launched("sh", "-c", escape, kmsg="/dev/null", limits=limits, grace_s=5.0, comes_back_s=0.1)
    pid = int(guard.line())
    available(host, 100)
    assert guard.end() == EXIT_TRIPPED
    assert gone(pid)
    (started,) = guard.events("guard_started")
    assert started["unknown"] == {}


def test_a_command_starts_with_the_signals_that_programs_expect(launched: Launcher) -> None:
    """Python ignores SIGPIPE, and what ignores it never notices that nobody reads."""
    guard = launched("sh", "-c", "grep SigIgn /proc/$$/status")
    assert int(guard.line().split()[1], 16) & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGINT - 1)) == 0
    assert guard.end() == 0


# -- what trips it


@pytest.mark.parametrize("limit", ["available", "gtt", "kernel"])
def test_each_limit_ends_the_command(launched: Launcher, host: Path, limit: str) -> None:
    limits = {"available_floor_bytes": 18 << 30, "gtt_ceiling_bytes": 90 << 30, "kernel": True}
    guard = launched("sleep", "100", limits=limits)
    eventually(lambda: "is guarded" in guard.words())
    pid = guard.events("child_started")[0]["pid"]
    if limit == "available":
        available(host, 17 << 10)
    elif limit == "gtt":
        (host / "sys/class/drm/card1/device/mem_info_gtt_used").write_text(f"{91 << 30}\n")
    else:
        with (host / "kmsg").open("a") as log:
            log.write(f"4,2,2,-;{CATALOGUED}\n")
    eventually(lambda: gone(pid), "the end")
    available(host, 20 << 10)
    (host / "sys/class/drm/card1/device/mem_info_gtt_used").write_text("1000000\n")
    assert guard.end() == EXIT_TRIPPED
    (trip,) = guard.events("guard_trip")
    said = {"available": "17 GiB of memory are available, less than 18 GiB"} | {
        "gtt": "91 GiB of GTT are used, more than 90 GiB",
        "kernel": "the kernel logged a fault that nothing can be trusted after",
    }
    assert trip["reasons"] == [said[limit]]
    assert len(trip["caused_by"]) == 2
    assert trip["samples"]
    assert said[limit] in guard.words()
    assert guard.record.raw is not None
    assert guard.record.raw["ended"] == {
        "why": "tripped",
        "reason": said[limit],
    }
    assert guard.events("memory_returned")


def test_a_moment_of_little_memory_ends_nothing(
    launched: Launcher, host: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a healthy host does: it comes near its limits, stays on them, and logs what is harmless."""
    limits = {"available_floor_bytes": 18 << 30, "gtt_ceiling_bytes": 90 << 30, "kernel": True}
    guard = launched("sleep", "1.8", limits=limits)
    eventually(lambda: "is guarded" in guard.words())
    available(host, 18 << 10)
    with (host / "kmsg").open("a") as log:
        log.write("6,2,2,-;amdgpu 0000:c3:00.0: amdgpu: SMU is initialized successfully!\n")
    assert guard.end() == 0
    assert guard.events("guard_trip") == []
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["runs", "--runs", str(guard.folder / "guards")]) == 0
    assert re.search(r"guard of sleep( .*)? \d+:\d\d +clean", capsys.readouterr().out)


_HOG = """
import os, time
held = []
print(os.getpid(), flush=True)
while len(held) < 40:
    held.append(b'x' * (8 << 20))
    time.sleep(0.02)
time.sleep(100)
"""


def test_a_real_memory_hog_is_stopped(launched: Launcher) -> None:
    """It takes 320 MiB at most; the floor is 150 MiB below what this host has available now.

    Once more where others took that much before it had begun.
    """
    for _ in range(5):
        limits = {"available_floor_bytes": psutil.virtual_memory().available - (150 << 20)}
        guard = launched(*python(_HOG), limits=limits, proc_root="/proc", sys_root="/sys", clear_within_s=0.0)
        pid = guard.line()
        if pid:
            break
    assert guard.end() == EXIT_TRIPPED
    assert gone(int(pid))
    assert "of memory are available, less than" in guard.words()


_TREE = """
import os, signal, subprocess, sys, time
if len(sys.argv) > 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.write(1, f"{os.getpid()}\\n".encode())  # at once: three write here
    time.sleep(100)
stubborn = subprocess.Popen([sys.executable, __file__, "stubborn"])
elsewhere = subprocess.Popen([sys.executable, __file__, "stubborn"], start_new_session=True)
left = f"{sys.executable} {__file__} stubborn & exit"
orphan = subprocess.Popen(["sh", "-c", left], start_new_session=True)
orphan.wait()
time.sleep(100)
"""


def test_a_tree_that_ignores_sigterm_is_killed_whole(tmp_path: Path, launched: Launcher, host: Path) -> None:
    """A child, one in a session of its own, and one whose parent has left it."""
    (tmp_path / "tree.py").write_text(_TREE)
    limits = {"available_floor_bytes": 18 << 30}
    guard = launched(sys.executable, str(tmp_path / "tree.py"), limits=limits, grace_s=0.5)
    stubborn = [int(guard.line()) for _ in range(3)]
    available(host, 17 << 10)
    eventually(lambda: all(gone(pid) for pid in stubborn), "the end of the tree")
    available(host, 20 << 10)
    assert guard.end() == EXIT_TRIPPED
    (ended,) = guard.events("tree_ended")
    assert sorted(ended["killed"]) == sorted(stubborn)
    assert set(stubborn) < set(ended["asked"])
    assert ended["left"] == []
    assert ended["took_s"] >= 0.5
    assert "and were killed" in guard.words()


def test_memory_that_does_not_come_back_is_told(launched: Launcher, host: Path) -> None:
    """The GPU keeps its GTT, and memory with it, after the process has gone."""
    used = host / "sys/class/drm/card1/device/mem_info_gtt_used"
    guard = launched("sleep", "100", limits={"gtt_ceiling_bytes": 90 << 30}, comes_back_s=0.5)
    eventually(lambda: "is guarded" in guard.words())
    used.write_text(f"{91 << 30}\n")
    assert guard.end() == EXIT_TRIPPED
    (told,) = guard.events("memory_not_returned")
    assert told["missing"][0].startswith("91 GiB of GTT are used, ")
    assert "memory did not come back" in guard.words()


def test_what_a_command_leaves_behind_is_ended(launched: Launcher) -> None:
    guard = launched("sh", "-c", "sleep 100 & echo $!; exit 5")
    pid = int(guard.line())
    assert guard.end() == 5
    assert gone(pid)
    assert "left processes behind (1)" in guard.words()


# -- nobody reads, or another launches

_SPEAKS_UNREAD = """
import os, subprocess, sys
unread, full = os.pipe()
os.set_blocking(full, False)
try:
    while True:
        os.write(full, b"x")
except BlockingIOError:
    os.set_blocking(full, True)
guard = [sys.executable, "-P", "-m", "soakproof", "guard", *sys.argv[1:]]
code = subprocess.run(guard, stderr=full).returncode
print(f"ended {code}, {'still waiting' if os.get_blocking(full) else 'changed'}")
"""


def test_a_guard_does_not_wait_for_a_reader_of_its_words(tmp_path: Path) -> None:
    """Its standard error is a pipe that is full: it launches, kills and ends as ever."""
    leaves = "trap '' TERM; sleep 100 >/dev/null & echo $!; exit 5"
    options = ("--no-kernel", "--grace", "0.2s", "--runs", str(tmp_path / "guards"))
    command = [sys.executable, "-c", _SPEAKS_UNREAD, *options, "--", "sh", "-c", leaves]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    pid, told = done.stdout.splitlines()
    assert told == "ended 5, still waiting"
    assert gone(int(pid))


def test_what_a_reader_reads_is_whole_and_in_order() -> None:
    lines = "".join(f"print('line {n}', file=sys.stderr);" for n in range(50))
    code = f"import sys; from soakproof.cli import nonblocking as n\nwith n.nonblocking_stderr(): {lines}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "".join(f"line {n}\n" for n in range(50))


def test_it_says_that_it_waits_for_another_guard(
    launched: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl  # not above: Windows has none

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lock = tmp_path / f"soakproof-guard-{os.getuid()}.lock"
    told = f"waiting for another guard of this user, which launches: it holds {lock}"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        guard = launched("echo", "up")
        eventually(lambda: told in guard.words())
    assert guard.line() == "up"
    assert guard.end() == 0
    assert guard.words().count("waiting") == 1


@pytest.mark.parametrize(("is_link", "why"), [(True, "it is a link"), (False, "it is a folder")])
def test_what_is_no_file_in_the_place_of_the_lock_is_told(
    launched: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool, why: str
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    lock = tmp_path / f"soakproof-guard-{os.getuid()}.lock"
    lock.symlink_to(tmp_path / "other") if is_link else lock.mkdir()
    guard = launched("echo", "up")
    assert guard.end() == 64
    assert f"{lock} keeps two guards of one user from launching at once, and cannot be opened: {why}" in (
        guard.words()
    )
    assert "remove what is there" in guard.words()


# -- the guard's own end


def test_the_command_is_told_when_its_guard_is_killed(launched: Launcher) -> None:
    guard = launched(
        *python(
            "import os, signal, sys, time\n"
            "def told(*_):\n    print('told', flush=True)\n    os._exit(0)\n"
            "signal.signal(signal.SIGTERM, told)\n"
            "print(os.getpid(), flush=True)\n"
            "while True: time.sleep(0.05)"
        )
    )
    pid = int(guard.line())
    guard.process.kill()
    assert guard.line() == "told"
    eventually(lambda: gone(pid), "the end of the command")
    (path,) = all_of(guard.folder / "guards")
    recover(path)
    assert guard.record.seal.recovered


# -- what is not launched


@pytest.fixture
def resident(tmp_path: Path) -> Iterator[int]:
    """A process that is called llama-server, with a secret in its command."""
    program = tmp_path / "llama-server"
    shutil.copy(shutil.which("sh") or "", program)
    command = [program, "-c", "read line", "x", "--api-key", "s3cret-123"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    eventually(lambda: Path(f"/proc/{process.pid}/comm").read_text().startswith("llama-server"))
    yield process.pid
    process.communicate()


def test_a_resident_backend_is_named(launched: Launcher, resident: int, tmp_path: Path) -> None:
    guard = launched("true")
    assert guard.end() == 3
    assert f"pid {resident}: {tmp_path}/llama-server -c 'read line' x --api-key " in guard.words()
    assert "s3cret" not in guard.words()
    assert not (tmp_path / "guards").exists()


def test_a_resident_backend_that_is_wanted_is_launched_beside(launched: Launcher, resident: int) -> None:
    guard = launched("true", beside=(resident,))
    assert guard.end() == 0
    assert guard.events("guard_started")[0]["beside"] == [resident]


def test_what_runs_below_a_wanted_process_is_wanted(launched: Launcher, resident: int) -> None:
    assert launched("true", beside=(os.getpid(),)).end() == 0


def test_another_than_the_wanted_one_is_refused(launched: Launcher, resident: int) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        guard = launched("true", beside=(other.pid,))
        assert guard.end() == 3
        other.kill()
    assert f"--beside {resident}" in guard.words()
    assert launched("true", beside=(other.pid,)).end() == 64  # it has ended


def test_of_two_guards_at_once_one_launches(launched: Launcher, tmp_path: Path) -> None:
    program = tmp_path / "llama-server"
    shutil.copy(shutil.which("sleep") or "", program)
    guards = [launched(str(program), "3") for _ in range(2)]
    assert sorted(guard.end() for guard in guards) == [0, 3]


def test_a_required_source_that_is_missing_refuses(launched: Launcher, host: Path) -> None:
    shutil.rmtree(host / "sys/class/drm/card1")
    guard = launched("true", limits={"gtt_ceiling_bytes": 1 << 40, "required": ("gtt",)})
    assert guard.end() == 3
    assert "gtt is required and cannot be measured" in guard.words()
    assert not (guard.folder / "guards").exists()


def test_a_source_that_is_missing_is_told_at_the_start(launched: Launcher, host: Path) -> None:
    shutil.rmtree(host / "sys/class/drm/card1")
    guard = launched("true", limits={"gtt_ceiling_bytes": 1 << 40})
    assert guard.end() == 0
    assert "gtt cannot be measured, so its limit is not kept" in guard.words()
    assert list(guard.events("guard_started")[0]["unknown"]) == ["gtt"]


def test_it_waits_for_memory_and_launches_once_it_is_there(launched: Launcher, host: Path) -> None:
    guard = launched("echo", "up", clear_to_bytes=40 << 30, clear_within_s=60.0)
    eventually(lambda: "waiting for memory" in guard.words())
    available(host, 41 << 10)
    assert guard.line() == "up"
    assert guard.end() == 0


def test_it_does_not_wait_for_ever(launched: Launcher, tmp_path: Path) -> None:
    guard = launched("true", clear_to_bytes=40 << 30, clear_within_s=0.2)
    assert guard.end() == 3
    assert "memory has not cleared within 0.2 s" in guard.words()
    assert not (tmp_path / "guards").exists()


def test_a_command_that_cannot_be_executed(launched: Launcher, tmp_path: Path) -> None:
    assert launched("no-such-command").end() == 64
    program = tmp_path / "odd"
    program.write_bytes(b"\x7fELF but no more")
    guard = launched(str(program))
    assert guard.end() == 64
    assert f"{program} cannot be executed" in guard.words()
    program.chmod(0o755)
    assert launched(str(program)).end() == 126


def test_a_disk_that_is_full_does_not_end_the_guard(launched: Launcher, host: Path, tmp_path: Path) -> None:
    """Its record's folder is taken away; a limit is kept all the same."""
    guard = launched("sleep", "100", limits={"available_floor_bytes": 18 << 30}, comes_back_s=0.1)
    eventually(lambda: "is guarded" in guard.words())
    (path,) = all_of(tmp_path / "guards")
    os.rename(path / "evidence/guard/events.jsonl", tmp_path / "events")
    (path / "evidence/guard/SEAL").write_text("somebody else's")
    available(host, 17 << 10)
    assert guard.end() == EXIT_TRIPPED
    assert "the guard goes on without its record" in guard.words()


def test_the_benchmark_measures_a_process_that_really_allocates() -> None:
    """Once, on whatever this machine does beside; a bound is for its own run."""
    benchmark = Path(__file__).parents[2] / "benchmarks" / "guard.py"
    done = subprocess.run(
        [sys.executable, benchmark, "--repeats", "1"], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    assert "median" in done.stdout or "not measured" in done.stdout


def test_what_was_unknown_before_the_launch_is_not_said_to_be_back(launched: Launcher, host: Path) -> None:
    """The driver refuses to tell GTT until the command has set the card up."""
    used = host / "sys/class/drm/card1/device/mem_info_gtt_used"
    used.unlink()
    used.mkdir()
    guard = launched("sh", "-c", f"rmdir {used}; echo {90 << 30} > {used}", comes_back_s=0.2)
    assert guard.end() == 0
    (told,) = guard.events("memory_not_comparable")
    assert told["unknown"] == ["GTT was not known before the launch"]
    assert guard.events("memory_returned") == []


def test_a_command_that_crashes_and_leaves_its_gpu_hanging_is_told(launched: Launcher, host: Path) -> None:
    """The guard did not end it; the GPU keeps its GTT all the same."""
    used = host / "sys/class/drm/card1/device/mem_info_gtt_used"
    command = f"echo {90 << 30} > {used}; echo up; exit 134"
    guard = launched("sh", "-c", command, comes_back_s=0.2)
    assert guard.end() == 134
    assert guard.events("memory_not_returned")[0]["missing"][0].startswith("90 GiB of GTT are used")
    assert guard.events("guard_trip") == []
