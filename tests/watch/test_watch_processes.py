"""The target's processes: on a written tree, and real ones that are killed and started again."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
import trio

from soakproof.watch.descendants import Descendants
from soakproof.watch.known import Known
from soakproof.watch.process import find_listener, read_boot_time, read_process
from soakproof.watch.processes import Processes
from soakproof.watch.restarts import LASTING_LOOKS
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Happening, Reading

TREE = Path(__file__).parent / "trees" / "gfx1151" / "proc"
LEMONADE = {"kind": "lemonade", "base_url": "http://localhost:13305", "model_resolved": "Main"}
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's /proc")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """The written tree with open files: pid 4100 listens on 13305."""
    root = tmp_path / "proc"
    shutil.copytree(TREE, root)
    for pid, inodes in {4100: (778899,), 4242: (778900, 5, 6)}.items():
        (root / f"{pid}/fd").mkdir()
        for number, inode in enumerate(inodes):
            (root / f"{pid}/fd/{number}").symlink_to(f"socket:[{inode}]")
    return root


def watching(proc: Path, **config: Any) -> tuple[Processes, Known]:
    made = WatchConfig(proc_root=str(proc), **{"target": LEMONADE, **config})
    known = Known(made)
    return Processes(made, known), known


def look(processes: Processes) -> tuple[dict[str, Reading], list[Happening]]:
    async def once() -> Sequence[Reading | Happening]:
        return await processes.read()

    found = trio.run(once)
    readings = {r.source: r for r in found if isinstance(r, Reading)}
    return readings, [h for h in found if isinstance(h, Happening)]


def restart(proc: Path, pid: int, new_pid: int, start_ticks: int) -> None:
    """The same process again under another pid and start time."""
    (proc / str(pid)).rename(proc / str(new_pid))
    stat = (proc / f"{new_pid}/stat").read_text().split(" ")
    stat[0] = str(new_pid)
    (proc / f"{new_pid}/stat").write_text(" ".join(stat).replace(" 130000 ", f" {start_ticks} "))


def test_front_by_its_port_and_backend_by_the_health_document(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    readings, happened = look(processes)
    assert happened == []
    assert readings["process:front"].values["name"] == "lemonade (v11)"
    hz = os.sysconf("SC_CLK_TCK")
    assert readings["process:backend"].values == {
        "pid": 4242,
        "created": round(1790000000 + 130000 / hz, 2),
        "name": "llama-server",
        "state": "R",
        "rss_bytes": 10000000 * 1024,
        "rss_anon_bytes": 9000000 * 1024,
        "swap_bytes": 500000 * 1024,
        "fds": 3,
        "threads": 18,
        "cpu_seconds": round(100000 / hz, 2),
        "children": 0,
    }


def test_a_new_pid_is_a_restart(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    restart(proc, 4242, 4343, 190000)
    known.update([{"model_name": "Main", "pid": 4343}])
    readings, happened = look(processes)
    assert readings["process:backend"].values["pid"] == 4343
    (event,) = happened
    assert event.what == "restart"
    assert {k: event.details[k] for k in ("role", "was_pid", "is_pid")} == {
        "role": "backend",
        "was_pid": 4242,
        "is_pid": 4343,
    }
    assert look(processes)[1] == []


def test_the_same_pid_with_another_start_time_is_a_restart(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    restart(proc, 4242, 4242, 999000)
    (event,) = look(processes)[1]
    assert (event.what, event.details["was_pid"], event.details["is_pid"]) == ("restart", 4242, 4242)
    assert event.details["is_created"] > event.details["was_created"]


def test_a_process_that_vanishes_is_told_once(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    shutil.rmtree(proc / "4242")
    readings, (event,) = look(processes)
    assert (event.what, event.details["role"], event.details["pid"]) == ("vanished", "backend", 4242)
    assert (readings["process:backend"].state, readings["process:backend"].reason) == (
        "error",
        "process 4242 is gone",
    )
    assert look(processes)[1] == []
    known.update([])  # the health document drops it, too
    readings, happened = look(processes)
    assert ("process:backend" in readings, happened) == (False, [])


def test_a_backend_that_health_forgot_is_watched_until_it_is_gone(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    known.update([])
    assert look(processes)[0]["process:backend"].values["pid"] == 4242


def test_a_backend_replaced_before_it_was_ever_seen_is_a_restart(proc: Path) -> None:
    processes, known = watching(proc, target={**LEMONADE, "backend_pid": 4001})
    assert look(processes)[1] == []  # nothing says yet that it was ever on this host
    known.update([{"model_name": "Main", "pid": 4242}])
    (event,) = look(processes)[1]
    assert (event.what, event.details["was_pid"], event.details["is_pid"]) == ("restart", 4001, 4242)


def test_a_backend_that_died_before_it_was_ever_seen_has_vanished(proc: Path) -> None:
    processes, known = watching(proc, target={**LEMONADE, "backend_pid": 4001})
    look(processes)
    known.update([])
    assert [h.what for h in look(processes)[1]] == ["vanished"]


@pytest.mark.parametrize("pid", [57, 58])
def test_a_pid_of_a_container_is_no_process_that_vanished(proc: Path, pid: int) -> None:
    shutil.copytree(proc / "4242", proc / "58", symlinks=True)
    (proc / "58/status").write_text("Name:\tkworker/3:1\nThreads:\t1\n")  # a thread of the kernel's
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": pid}])
    for _ in range(2):
        readings, happened = look(processes)
        assert happened == []
        assert readings["process:backend"].state == "error"
        assert "--server-pid" in readings["process:backend"].reason


def test_a_zombie_is_gone(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    stat = proc / "4242/stat"
    stat.write_text(stat.read_text().replace(" R ", " Z "))
    assert [h.what for h in look(processes)[1]] == ["vanished"]


def test_an_unseen_listener_is_taken_to_be_the_backends_parent(proc: Path) -> None:
    shutil.rmtree(proc / "4100/fd")
    (proc / "4100/fd").mkdir()
    processes, known = watching(proc)
    readings, _ = look(processes)
    assert readings["process:front"].state == "denied"
    assert "13305" in readings["process:front"].reason
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    assert look(processes)[0]["process:front"].values["pid"] == 4100


def test_pids_that_were_given(proc: Path) -> None:
    processes, _ = watching(proc, server_pids=(4100, 4242))
    readings, _ = look(processes)
    assert {s: r.values["pid"] for s, r in readings.items()} == {
        "process:front": 4100,
        "process:backend": 4242,  # by its program
    }


def test_a_named_pid_that_the_front_tells_itself_is_no_front(proc: Path) -> None:
    stat = proc / "4242/stat"
    stat.write_text(stat.read_text().replace("llama-server", "python"))
    target = {**LEMONADE, "backend_pid": 4242}
    processes, _ = watching(proc, server_pids=(4242,), target=target)
    readings, _ = look(processes)
    assert readings["process:front"].values["pid"] == 4100
    assert readings["process:backend"].values["pid"] == 4242


def test_a_bare_llamacpp_is_the_backend(proc: Path) -> None:
    target = {"kind": "llamacpp", "base_url": "http://127.0.0.1:13305", "backend_pid": 4242}
    readings, _ = look(watching(proc, target=target)[0])
    assert {s: r.values["pid"] for s, r in readings.items()} == {"process:backend": 4242}


def test_a_hung_process_file_delays_no_other(proc: Path) -> None:
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    look(processes)
    (proc / "4242/status").unlink()
    os.mkfifo(proc / "4242/status")
    readings, happened = look(processes)
    assert readings["process:backend"].state == "timeout"
    assert readings["process:front"].state == "value"
    assert happened == []


def test_a_torn_stat_is_an_error(proc: Path) -> None:
    (proc / "4100/stat").write_text("4100 (lemonade")
    readings, _ = look(watching(proc)[0])
    assert readings["process:front"].state == "error"


def add_child(proc: Path, parent: int, pid: int) -> None:
    """A process of 1 GiB below another one."""
    (proc / f"{pid}/fd").mkdir(parents=True)
    (proc / f"{pid}/fd/0").symlink_to("/dev/null")
    stat = (
        (proc / "4242/stat").read_text().replace("4242 (llama-server) R 4100", f"{pid} (worker) S {parent}")
    )
    (proc / f"{pid}/stat").write_text(stat)
    (proc / f"{pid}/status").write_text("VmRSS:\t1048576 kB\nRssAnon:\t1000000 kB\nVmSwap:\t 0 kB\n")


def test_what_the_processes_below_hold_is_summed_but_for_those_with_a_role(proc: Path) -> None:
    add_child(proc, 4242, 5001)
    add_child(proc, 5001, 5002)
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    readings, _ = look(processes)
    backend = readings["process:backend"].values
    assert backend["rss_bytes"] == 10000000 * 1024
    assert (backend["children"], backend["children_rss_bytes"]) == (2, 2 << 30)
    assert (backend["children_fds"], backend["children_threads"]) == (2, 36)
    assert readings["process:front"].values["children"] == 0  # the backend, and what is below it, has a role
    (proc / "5002/status").write_text("VmRSS:\t1048576 kB\n")
    assert look(processes)[0]["process:backend"].values["children_swap_bytes"] is None
    shutil.rmtree(proc / "5001")
    assert look(processes)[0]["process:backend"].values["children"] == 1


def test_descendants_are_bounded_and_a_circle_ends(proc: Path) -> None:
    for number in range(100):
        add_child(proc, 4242, 6000 + number)
    add_child(proc, 7001, 7000)
    add_child(proc, 7000, 7001)
    descendants = Descendants(proc)
    trio.run(descendants.look)
    assert len(descendants.of(4242, {4242})) == 32
    assert descendants.of(7000, {7000}) == (7001,)


def test_a_backend_that_was_named_is_believed_before_the_health_document(proc: Path) -> None:
    processes, known = watching(proc, server_pids=(4242,), target={**LEMONADE, "backend_pid": 57})
    known.update([{"model_name": "Main", "pid": 57}, {"model_name": "Other", "pid": 4100}])
    readings, happened = look(processes)
    assert readings["process:backend"].values["pid"] == 4242
    assert readings["process:backend-2"].values["pid"] == 4100
    assert happened == []
    shutil.rmtree(proc / "4242")
    assert [(h.what, h.details["pid"]) for h in look(processes)[1]] == [("vanished", 4242)]
    assert "process:backend" not in look(processes)[0]


@needs_linux
def test_this_very_process_agrees_with_psutil() -> None:
    root, own = Path("/proc"), psutil.Process()
    state = read_process(root, own.pid, read_boot_time(root))
    assert state is not None
    assert state.values["created"] == pytest.approx(own.create_time(), abs=0.02)
    assert state.values["name"] == own.name()[:15]
    assert state.parent == own.ppid()
    assert state.values["threads"] >= 1
    assert state.values["rss_bytes"] == pytest.approx(own.memory_info().rss, rel=0.1)


def watching_children(proc: Path) -> tuple[Processes, Known]:
    """The backend with one process below it that has lasted."""
    add_child(proc, 4242, 5001)
    processes, known = watching(proc)
    known.update([{"model_name": "Main", "pid": 4242}])
    for _ in range(LASTING_LOOKS):
        look_at_all(processes)
    return processes, known


def look_at_all(processes: Processes) -> list[Happening]:
    """A look at which every process is looked through again."""
    processes._descendants._next_look = 0
    return look(processes)[1]


def add_later_child(proc: Path, pid: int, start_ticks: int, name: str = "worker") -> None:
    add_child(proc, 4242, pid)
    stat = (proc / f"{pid}/stat").read_text().replace("(worker)", f"({name})")
    (proc / f"{pid}/stat").write_text(stat.replace(" 130000 ", f" {start_ticks} "))


def test_a_child_that_is_replaced_is_a_restart(proc: Path) -> None:
    processes, _ = watching_children(proc)
    shutil.rmtree(proc / "5001")
    assert look_at_all(processes) == []
    add_later_child(proc, 5009, 180000, "tool")
    assert look_at_all(processes) == []
    add_later_child(proc, 5010, 190000)
    (event,) = look_at_all(processes)
    assert event.what == "restart"
    assert {k: event.details[k] for k in ("role", "was_pid", "is_pid")} == {
        "role": "backend's child",
        "was_pid": 5001,
        "is_pid": 5010,
    }
    assert look_at_all(processes) == []


def test_children_that_are_added_or_come_and_go_are_no_restart(proc: Path) -> None:
    processes, _ = watching_children(proc)
    for number in range(4):
        add_later_child(proc, 5100 + number, 190000 + number)
        assert look_at_all(processes) == []
        shutil.rmtree(proc / f"{5100 + number}")
        assert look_at_all(processes) == []


def test_a_child_that_gets_a_role_or_another_parent_has_not_ended(proc: Path) -> None:
    processes, known = watching_children(proc)
    known.update([{"model_name": "Main", "pid": 4242}, {"model_name": "Other", "pid": 5001}])
    look_at_all(processes)
    add_later_child(proc, 5010, 190000)
    assert look_at_all(processes) == []


def test_a_server_restarted_with_its_children_is_one_restart(proc: Path) -> None:
    processes, known = watching_children(proc)
    shutil.rmtree(proc / "5001")
    add_child(proc, 4343, 5010)
    restart(proc, 4242, 4343, 190000)
    known.update([{"model_name": "Main", "pid": 4343}])
    happened = [*look_at_all(processes), *look_at_all(processes)]
    assert restarts(happened) == [(4242, 4343)]


SERVE = """
import signal, socket, time
listening = socket.create_server(("127.0.0.1", {port}))
def close(*_):
    listening.close()
    print("closed", flush=True)
signal.signal(signal.SIGUSR1, close)
print("listening", flush=True)
time.sleep(600)
"""


def start_server(port: int) -> "subprocess.Popen[bytes]":
    """A real process that listens."""
    child = subprocess.Popen([sys.executable, "-c", SERVE.format(port=port)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"listening\n"
    return child


@pytest.fixture
def start() -> "Iterator[Callable[[int], subprocess.Popen[bytes]]]":
    """Starts servers that the test's end ends."""
    started: list[subprocess.Popen[bytes]] = []

    def one(port: int) -> "subprocess.Popen[bytes]":
        started.append(start_server(port))
        return started[-1]

    yield one
    for child in started:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


Start = Callable[[int], "subprocess.Popen[bytes]"]


def bare(port: int) -> Processes:
    """Of a bare llama.cpp on a port."""
    config = WatchConfig(target={"kind": "llamacpp", "base_url": f"http://127.0.0.1:{port}"})
    return Processes(config, Known(config))


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@needs_linux
def test_a_real_server_killed_and_started_again_is_found_by_its_port(start: Start) -> None:
    port = free_port()
    first = start(port)
    processes = bare(port)
    assert find_listener(Path("/proc"), port) == first.pid
    assert look(processes)[0]["process:backend"].values["pid"] == first.pid
    first.kill()
    first.wait()
    assert [h.what for h in look(processes)[1]] == ["vanished"]
    second = start(port)
    assert restarts(look(processes)[1]) == [(first.pid, second.pid)]


def restarts(happened: list[Happening]) -> list[tuple[int, int]]:
    return [(h.details["was_pid"], h.details["is_pid"]) for h in happened if h.what == "restart"]


@needs_linux
def test_a_backend_whose_pid_the_front_does_not_tell_is_found_by_its_port(start: Start) -> None:
    ports = free_port(), free_port()
    first = start(ports[0])
    config = WatchConfig(target={**LEMONADE, "base_url": f"http://127.0.0.1:{free_port()}"})
    known = Known(config)
    processes = Processes(config, known)
    known.update([{"model_name": "Main", "backend_url": f"http://127.0.0.1:{ports[0]}/v1"}])
    assert look(processes)[0]["process:backend"].values["pid"] == first.pid
    first.kill()
    first.wait()
    second = start(ports[1])
    known.update([{"model_name": "Main", "backend_url": f"http://127.0.0.1:{ports[1]}/v1"}])
    assert restarts(look(processes)[1]) == [(first.pid, second.pid)]


@needs_linux
def test_a_server_replaced_between_two_looks_is_a_restart(start: Start) -> None:
    port = free_port()
    first = start(port)
    processes = bare(port)
    look(processes)
    first.kill()
    first.wait()
    second = start(port)
    happened = [*look(processes)[1], *look(processes)[1]]
    assert [h.what for h in happened] == ["vanished", "restart"]
    assert restarts(happened) == [(first.pid, second.pid)]


@needs_linux
def test_a_server_that_lives_on_and_has_lost_its_port_to_another_is_a_restart(start: Start) -> None:
    port = free_port()
    first = start(port)
    processes = bare(port)
    look(processes)
    first.send_signal(signal.SIGUSR1)
    assert first.stdout is not None
    assert first.stdout.readline() == b"closed\n"
    trio.run(processes._listener.check)
    assert look(processes)[1] == []  # nobody has it
    second = start(port)
    trio.run(processes._listener.check)
    assert restarts(look(processes)[1]) == [(first.pid, second.pid)]
    trio.run(processes._listener.check)
    assert look(processes)[1] == []


@needs_linux
def test_a_real_child_is_below_its_parent(start: Start) -> None:
    child = start(free_port())
    descendants = Descendants(Path("/proc"))
    trio.run(descendants.look)
    assert child.pid in descendants.of(os.getpid(), {os.getpid()})


@needs_linux
def test_a_real_child_killed_and_started_again_is_a_restart(start: Start) -> None:
    config = WatchConfig(target={**LEMONADE}, server_pids=(os.getpid(),))
    processes = Processes(config, Known(config))
    first = start(free_port())
    for _ in range(LASTING_LOOKS):
        assert look_at_all(processes) == []
    first.kill()
    first.wait()
    assert look_at_all(processes) == []
    second = start(free_port())
    assert restarts(look_at_all(processes)) == [(first.pid, second.pid)]
