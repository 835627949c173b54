"""The guard inside a soak's watch: it tells the load, and acts on a real server where the plan says so."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from patience import eventually

from soakproof.clock import RunClock
from soakproof.errors import SoakproofError
from soakproof.records import Event
from soakproof.run import Run, load
from soakproof.target import Credentials, examine
from soakproof.watch.guard.limits import Limits, Then
from soakproof.watch.launch import Watch
from soakproof.watch.settings import GuardConfig, WatchConfig

if TYPE_CHECKING:
    from conftest import Server

    from soakproof.testbed.launch import Testbed

GFX1151 = Path(__file__).parent / "trees" / "gfx1151"
GIB = 2**30
AT_ONCE = Limits(available_floor_bytes=1 << 50)  # more than any host has
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches a Linux host")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs", "guarded", {"format": 1})


@pytest.fixture
def host(tmp_path: Path) -> Path:
    shutil.copytree(GFX1151, tmp_path / "host")
    (tmp_path / "host/kmsg").write_text("")
    return tmp_path / "host"


@pytest.fixture
def start(run: Run, tmp_path: Path) -> Iterator[Callable[..., Watch]]:
    """Start a watch with a guard; it is ended after the test."""
    watches: list[Watch] = []
    (tmp_path / "kmsg").write_text("")

    def starting(limits: Limits, then: Then = "stop", **config: Any) -> Watch:
        given = {"zero_ns": RunClock.start().zero_ns, "interval_s": 0.5, "kmsg": str(tmp_path / "kmsg")}
        made = WatchConfig(**(given | config), guard=GuardConfig(limits=limits, then=then))
        watches.append(Watch.start(run.path, made))
        return watches[-1]

    yield starting
    for watch in watches:
        watch.stop(timeout=5)


def roots(host: Path) -> dict[str, str]:
    return {"proc_root": f"{host}/proc", "sys_root": f"{host}/sys", "kmsg": f"{host}/kmsg"}


def details(run: Run, what: str) -> list[dict[str, Any]]:
    return [r.details for r in load(run.path).records if isinstance(r, Event) and r.what == what]


def test_a_ceiling_that_is_crossed_is_told_with_the_looks_that_caused_it(
    run: Run, start: Callable[..., Watch], host: Path
) -> None:
    watch = start(Limits(gtt_ceiling_bytes=90 * GIB), **roots(host))
    eventually(lambda: "t_s" in watch.latest())
    assert watch.latest()["guard"] == ""
    (host / "sys/class/drm/card1/device/mem_info_gtt_used").write_text(f"{91 * GIB}\n")
    reason = eventually(lambda: watch.latest().get("guard"))
    assert reason == "91 GiB of GTT are used, more than 90 GiB"
    seen = watch.latest().get("t_s")
    later = eventually(lambda: watch.latest() if watch.latest().get("t_s") != seen else None)
    assert later["guard"] == reason  # each later line says it, too
    assert watch.stop() == 0
    (trip,) = details(run, "guard_trip")
    assert trip["reasons"] == [reason]
    assert [look["gtt_used_bytes"] for look in trip["caused_by"]] == [91 * GIB] * 2
    assert details(run, "guard_action") == []


def test_a_healthy_host_near_its_limits_trips_nothing(
    run: Run, start: Callable[..., Watch], host: Path
) -> None:
    limits = Limits(available_floor_bytes=21000000 * 1024, gtt_ceiling_bytes=90 * GIB, kernel=True)
    watch = start(limits, **roots(host))
    with (host / "kmsg").open("a") as log:
        log.write("6,2,2,-;amdgpu 0000:c3:00.0: amdgpu: SMU is initialized successfully!\n")
    eventually(lambda: (watch.latest().get("t_s") or 0) > 2.5)
    assert watch.latest()["guard"] == ""
    assert watch.stop() == 0
    assert details(run, "guard_trip") == []


def test_a_guard_without_limits_does_nothing(run: Run, start: Callable[..., Watch], host: Path) -> None:
    target = {"kind": "lemonade", "base_url": "http://127.0.0.1:1", "model": "llm"}
    watch = start(Limits(), "unload", target=target, **roots(host))
    eventually(lambda: (watch.latest().get("t_s") or 0) > 1)
    assert watch.stop() == 0
    assert details(run, "guard_trip") == details(run, "guard_action") == []


def test_a_limit_that_cannot_be_measured_is_told_at_the_start(run: Run, start: Callable[..., Watch]) -> None:
    tree = Path(__file__).parent / "trees" / "none"
    watch = start(Limits(gtt_ceiling_bytes=1), sys_root=f"{tree}/sys")
    assert list(watch.latest()["guard_unknown"]) == ["gtt"]
    watch.stop()
    assert list(details(run, "guarded")[0]["unknown"]) == ["gtt"]


@pytest.mark.parametrize(
    ("limits", "then", "target", "words"),
    [
        (
            Limits(gtt_ceiling_bytes=1, required=("gtt",)),
            "stop",
            {},
            "gtt is required and cannot be measured",
        ),
        (AT_ONCE, "unload", {"kind": "llamacpp", "base_url": "http://127.0.0.1:1"}, "only Lemonade can"),
        (
            AT_ONCE,
            "end",
            {"kind": "lemonade", "base_url": "http://server.example:1"},
            "only a process behind",
        ),
    ],
)
def test_a_guard_that_cannot_do_what_it_must_refuses(
    start: Callable[..., Watch], limits: Limits, then: Then, target: dict[str, str], words: str
) -> None:
    with pytest.raises(SoakproofError, match=words):
        start(limits, then, target=target, sys_root="/nowhere")


@pytest.fixture
def own(tmp_path: Path) -> "Iterator[Testbed]":
    """A pair of this test's own: it is acted upon."""
    for package in ("xllamacpp", "starlette", "uvicorn", "httptools"):
        pytest.importorskip(package)
    from soakproof.testbed.launch import Testbed

    with Testbed.start(tmp_path / "testbed") as pair:
        yield pair


def test_the_model_is_unloaded_through_lemonade(
    run: Run, start: Callable[..., Watch], own: "Testbed"
) -> None:
    target = examine(own.url, "llm", Credentials()).describe()
    engine = psutil.Process(target["backend_pid"])
    watch = start(AT_ONCE, "unload", target=target)
    eventually(lambda: details(run, "guard_action"))
    (acted,) = details(run, "guard_action")
    assert (acted["what"], acted["done"], acted["status"]) == ("unload", True, 200)
    eventually(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)
    assert watch.stop() == 0


def test_the_backend_is_ended_and_nothing_else(run: Run, start: Callable[..., Watch], own: "Testbed") -> None:
    target = examine(own.url, "llm", Credentials()).describe()
    engine, front = psutil.Process(target["backend_pid"]), psutil.Process(own.pids[0])
    watch = start(AT_ONCE, "end", target=target)
    eventually(lambda: details(run, "guard_action"))
    (acted,) = details(run, "guard_action")
    assert (acted["what"], acted["done"], acted["left"]) == ("end", True, [])
    assert engine.pid in acted["asked"]
    assert front.pid not in acted["asked"]
    eventually(lambda: not engine.is_running() or engine.status() == psutil.STATUS_ZOMBIE)
    assert front.is_running()
    assert watch.stop() == 0


def test_a_pid_that_a_front_tells_and_that_has_not_the_backends_port_is_not_ended(
    run: Run, start: Callable[..., Watch], server: "Server"
) -> None:
    """A front in a container tells the container's pids, which are somebody else's here."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(command, start_new_session=True) as bystander:
        entry = {"model_name": "llm", "pid": bystander.pid, "backend_url": "http://127.0.0.1:1/v1"}
        server.json("/v1/health", {"all_models_loaded": [entry]})
        start(AT_ONCE, "end", target={"kind": "lemonade", "base_url": server.url, "prefix": "/v1"})
        eventually(lambda: details(run, "guard_action"))
        (acted,) = details(run, "guard_action")
        assert (acted["done"], acted.get("asked")) == (False, None)
        assert bystander.poll() is None
        bystander.kill()


_SHELL = """
import socket, subprocess, sys, time
sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
listens = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); "
listens += "print(s.getsockname()[1], flush=True); time.sleep(60)"
backend = subprocess.Popen([sys.executable, "-c", listens], stdout=subprocess.PIPE, text=True)
other = subprocess.Popen(sleeper)
print(backend.stdout.readline().strip(), backend.pid, other.pid, flush=True)
time.sleep(60)
"""


def test_of_a_shell_that_started_the_backend_only_the_backend_is_ended(
    run: Run, start: Callable[..., Watch], server: "Server"
) -> None:
    command = [sys.executable, "-c", _SHELL]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        port, backend, other = map(int, shell.stdout.readline().split())
        entry = {"model_name": "llm", "pid": shell.pid, "backend_url": f"http://127.0.0.1:{port}/v1"}
        server.json("/v1/health", {"all_models_loaded": [entry]})
        start(AT_ONCE, "end", target={"kind": "lemonade", "base_url": server.url, "prefix": "/v1"})
        eventually(lambda: details(run, "guard_action"))
        (acted,) = details(run, "guard_action")
        assert (acted["done"], acted.get("asked")) == (True, [backend])
        assert shell.poll() is None
        for pid in (other, shell.pid):
            psutil.Process(pid).kill()


_STUBBORN = """
import signal, socket, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
time.sleep(60)
"""


def test_the_sources_go_on_while_the_guard_ends_a_backend(
    run: Run, start: Callable[..., Watch], server: "Server"
) -> None:
    """The load ends at once, and the watch with it once the guard has done what it must."""
    command = [sys.executable, "-c", _STUBBORN]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True) as backend:
        assert backend.stdout is not None
        url = f"http://127.0.0.1:{int(backend.stdout.readline())}/v1"
        entry = {"model_name": "llm", "pid": backend.pid, "backend_url": url}
        server.json("/v1/health", {"all_models_loaded": [entry]})
        watch = start(AT_ONCE, "end", target={"kind": "lemonade", "base_url": server.url, "prefix": "/v1"})
        eventually(lambda: details(run, "guard_trip"))
        assert watch.stop(timeout=30) == 0
        assert backend.wait(1) == -signal.SIGKILL
    (acted,), (ended,) = details(run, "guard_action"), details(run, "watch_ended")
    assert acted["killed"] == [backend.pid]
    assert ended["ticks_missed"] <= 2
    assert ended["ticks_had"] >= 8  # of half a second each, in the five that it takes
