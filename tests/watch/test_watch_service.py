"""The watch as a process: what it records, what it survives, and that it leaves sealed evidence."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from caseinputs import INPUTS
from patience import eventually
from rundirs import orphaned

from soakproof.clock import NS, RunClock
from soakproof.errors import SoakproofError
from soakproof.records import Event, KernelEvent, Sample
from soakproof.run import Loaded, Run, load, recover, verify
from soakproof.watch.launch import Watch
from soakproof.watch.parent import Parent
from soakproof.watch.settings import WatchConfig

if TYPE_CHECKING:
    from conftest import Server

GFX1151 = Path(__file__).parent / "trees" / "gfx1151"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches a Linux host")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs", "watched", {"format": 1})


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A written host whose files a test may change, with a kernel log to append to."""
    shutil.copytree(GFX1151, tmp_path / "host")
    for pid in (4100, 4242):
        (tmp_path / f"host/proc/{pid}/fd").mkdir()
    (tmp_path / "host/kmsg").write_text("4,1,1,-;before the start\n")
    return tmp_path / "host"


def config_for(host: Path, target: dict[str, Any] | None = None) -> WatchConfig:
    return WatchConfig(
        zero_ns=RunClock.start().zero_ns,
        interval_s=0.1,
        target=target or {},
        proc_root=f"{host}/proc",
        sys_root=f"{host}/sys",
        kmsg=f"{host}/kmsg",
    )


@pytest.fixture
def started() -> Iterator[list[Watch]]:
    """Watches that a failing test leaves behind are ended."""
    watches: list[Watch] = []
    yield watches
    for watch in watches:
        watch.stop(timeout=5)


def of(loaded: Loaded, kind: type, name: str = "") -> list[Any]:
    """Records of a kind; of samples those of one source, of events those of one sort."""
    here = [r for r in (*loaded.records, *loaded.samples) if type(r) is kind]
    return [r for r in here if name in ("", getattr(r, "source", ""), getattr(r, "what", ""))]


def health(pid: int, url: str) -> dict[str, Any]:
    return {"all_models_loaded": [{"model_name": "Main", "pid": pid, "backend_url": f"{url}/v1"}]}


def test_a_watched_run(
    run: Run, host: Path, server: "Server", backend: "Server", started: list[Watch]
) -> None:
    """A server that hangs, a GPU file that hangs, a kernel fault, a backend that is started anew."""
    server.hangs.add("/live")
    server.json("/v1/health", health(4242, backend.url))
    backend.json("/slots", [{"id": 0, "is_processing": True, "params": {"seed": 77}}])
    hung = host / "sys/class/drm/card1/device/mem_info_gtt_used"
    hung.unlink()
    os.mkfifo(hung)
    target = {"kind": "lemonade", "base_url": server.url, "prefix": "/v1", "backend_url": backend.url}
    watch = Watch.start(run.path, config_for(host, target), popen=subprocess.Popen)
    started.append(watch)
    assert watch.alive
    assert b"MALLOC_ARENA_MAX=1\0" in Path(f"/proc/{watch.pid}/environ").read_bytes()  # or memory grows

    eventually(lambda: watch.latest().get("slots_busy") == 1)
    eventually(lambda: of(load(run.path), Sample, "process:backend"))
    with (host / "kmsg").open("a") as kmsg:
        kmsg.write((INPUTS / "61-pagefault-mes-reset.kmsg").read_text())
    os.rename(host / "proc/4242", host / "proc/4343")
    server.json("/v1/health", health(4343, backend.url))
    eventually(lambda: watch.latest().get("incidents") == 1)
    eventually(lambda: any(e.what == "restart" for e in of(load(run.path), Event)))
    ticks = len(of(load(run.path), Sample, "memory"))
    eventually(lambda: len(of(load(run.path), Sample, "memory")) > ticks + 8)
    eventually(lambda: watch.latest().get("available_bytes") == 21000000 * 1024)
    assert watch.stop() == 0
    assert not watch.alive
    assert watch.latest()["incidents"] == 1  # what it said last can still be asked for

    run.seal({})
    seal = verify(run.path)
    assert (seal.sealed, seal.problems) == (True, ())
    loaded = load(run.path)
    assert loaded.problems == ()
    _check_samples(loaded)
    kernel = of(loaded, KernelEvent)
    assert {e.incident for e in kernel if e.severity == "fatal"} == {1}
    assert "before the start" not in {e.message for e in kernel}
    restarted = of(loaded, Event, "restart")[0].details
    assert (restarted["role"], restarted["was_pid"], restarted["is_pid"]) == ("backend", 4242, 4343)
    (ended,) = of(loaded, Event, "watch_ended")
    assert ended.details["reason"] == "stop"
    assert ended.details["ticks_had"] + ended.details["ticks_missed"] == ended.details["ticks_due"]
    assert ended.details["incidents"] == 1
    sources = ended.details["sources"]
    assert sources["live"]["had"] < sources["memory"]["had"] / 2  # it waits for its answer, alone


def _check_samples(loaded: Loaded) -> None:
    """The schedule is absolute, and the hung source delayed nobody."""
    memory = of(loaded, Sample, "memory")
    start = memory[0].due_ns
    assert all((s.due_ns - start) % (NS // 10) == 0 for s in memory)
    assert len({s.due_ns for s in memory}) == len(memory)
    assert sum(s.state == "value" for s in memory) > len(memory) / 2
    card = of(loaded, Sample, "amdgpu:card1")
    assert {s.state for s in card} == {"timeout"}
    assert "mem_info_gtt_used" in card[0].reason
    assert of(loaded, Sample, "slots")[0].values["seeds"] == [77]
    assert {s.values["pid"] for s in of(loaded, Sample, "process:backend") if s.state == "value"} == {
        4242,
        4343,
    }


def test_a_target_on_another_host_is_not_told_by_this_one(run: Run, host: Path, started: list[Watch]) -> None:
    target = {"kind": "llamacpp", "base_url": "http://127.0.0.1:9", "local": False}
    watch = Watch.start(run.path, config_for(host, target))
    started.append(watch)
    eventually(lambda: of(load(run.path), Sample, "health"))
    assert watch.stop() == 0
    loaded = load(run.path)
    for source in ("memory", "psi", "amdgpu", "process", "kernel_log"):
        assert {s.state for s in of(loaded, Sample, source)} == {"unsupported"}
    assert of(loaded, Sample, "health")[0].state == "error"  # nobody listens there


def test_a_signal_ends_it_sealed(run: Run, host: Path, started: list[Watch]) -> None:
    watch = Watch.start(run.path, config_for(host))
    started.append(watch)
    os.kill(watch.pid, signal.SIGTERM)
    eventually(lambda: not watch.alive)
    assert watch.stop() == 0
    assert (run.path / "evidence/watch/SEAL").is_file()
    assert of(load(run.path), Event, "watch_ended")[0].details["reason"] == "SIGTERM"


PARENT = """
import os, sys, time
from pathlib import Path
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig
watch = Watch.start(Path(sys.argv[1]), WatchConfig.from_json(sys.argv[2]))
print(watch.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("stopped", [False, True])
def test_the_parents_death_ends_it_sealed(run: Run, host: Path, stopped: bool) -> None:
    """A stopped process reads no end of file: the kernel has to wake it."""
    command = [sys.executable, "-c", PARENT, str(run.path), config_for(host).to_json()]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        eventually(lambda: of(load(run.path), Sample, "memory"))
        if stopped:
            os.kill(pid, signal.SIGSTOP)
            eventually(lambda: " T " in Path(f"/proc/{pid}/stat").read_text())
    finally:
        parent.kill()  # the parent itself; nothing is told to the watch
        parent.communicate()
    eventually((run.path / "evidence/watch/SEAL").is_file)
    eventually(lambda: not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text())
    run.seal({})
    assert verify(run.path).problems == ()
    assert of(load(run.path), Event, "watch_ended")[0].details["reason"] == "parent gone"


def test_a_killed_watch_leaves_what_can_be_recovered(run: Run, host: Path, started: list[Watch]) -> None:
    watch = Watch.start(run.path, config_for(host))
    started.append(watch)
    eventually(lambda: of(load(run.path), Sample, "memory"))
    os.kill(watch.pid, signal.SIGKILL)
    eventually(lambda: not watch.alive)
    assert watch.stop() == -signal.SIGKILL
    assert not (run.path / "evidence/watch/SEAL").exists()
    orphaned(run.path)  # as if the run's own writer were gone, too
    assert "evidence/watch: sealed" in recover(run.path)
    state = verify(run.path)
    assert (state.sealed, state.recovered, state.problems) == (True, True, ())
    assert of(load(run.path), Event, "watch_ended") == []


def test_a_full_disk_ends_it_with_words_and_without_a_seal(
    run: Run, host: Path, started: list[Watch]
) -> None:
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (6000, 6000))
    popen: Any = partial(subprocess.Popen, preexec_fn=limit)
    watch = Watch.start(run.path, config_for(host), popen=popen)
    started.append(watch)
    eventually(lambda: not watch.alive)
    assert watch.stop() == 3
    assert "cannot write evidence" in (run.path / "watch.log").read_text()
    assert "Traceback" not in (run.path / "watch.log").read_text()
    assert not (run.path / "evidence/watch/SEAL").exists()
    assert of(load(run.path), Sample, "memory")


def test_a_second_watch_of_a_run_does_not_start(run: Run, host: Path) -> None:
    (run.path / "evidence/watch").mkdir()
    with pytest.raises(SoakproofError, match=r"status 3\): watch: .*two nodes of one run"):
        Watch.start(run.path, config_for(host))


def test_a_wrong_configuration_is_wrong_usage() -> None:
    command = [sys.executable, "-m", "soakproof.watch", "--config", '{"interval_s": "often"}']
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 64
    assert b"interval_s" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_parent_that_does_not_listen_never_blocks_it() -> None:
    read_end, write_end = os.pipe()
    parent = Parent(write_end)
    for number in range(5000):  # several times what a pipe holds
        parent.tell({"t_s": number, "available_bytes": 123456789})
    os.set_blocking(read_end, False)
    lines = os.read(read_end, 1 << 20).splitlines()
    assert lines[0].startswith(b'{"t_s":0,')
    assert all(line.endswith(b"}") for line in lines)  # whole lines or none
    os.close(read_end)
    parent.tell({"t_s": 1})  # nor does one that is gone
    os.close(write_end)


GEVENT = """
from gevent import monkey
monkey.patch_all()
import sys
from pathlib import Path
import gevent
from gevent.subprocess import Popen
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig

widest, last = 0.0, __import__("time").monotonic()
def beat():
    global widest, last
    while True:
        gevent.sleep(0.005)
        now = __import__("time").monotonic()
        widest, last = max(widest, now - last), now
gevent.spawn(beat)
watch = Watch.start(Path(sys.argv[1]), WatchConfig.from_json(sys.argv[2]), popen=Popen)
started, widest = widest, 0.0
while "t_s" not in watch.latest():
    gevent.sleep(0.01)
status = watch.stop()
assert "trio" not in sys.modules and "httpx" not in sys.modules
print(status, watch.alive, started, widest)
"""


def test_under_gevent_the_others_go_on(run: Run, host: Path) -> None:
    """Starting and stopping take seconds on a busy machine; greenlets must not wait that long."""
    command = [sys.executable, "-c", textwrap.dedent(GEVENT), str(run.path), config_for(host).to_json()]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.monotonic() - began
    assert done.returncode == 0, done.stderr
    status, alive, starting, stopping = done.stdout.split()
    assert (status, alive) == ("0", "False")
    assert max(float(starting), float(stopping)) < took / 2
    assert (run.path / "evidence/watch/SEAL").is_file()
