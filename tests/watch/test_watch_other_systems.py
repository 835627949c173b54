"""Windows and macOS, played on Linux: their names for the system, and what only POSIX has taken away.

Nothing here has run on those systems. What is shown is that no path to these answers needs Linux.
"""

import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import get_args

import pytest

from soakproof.cli import main
from soakproof.gates.looking import look
from soakproof.records import SourceState
from soakproof.watch.settings import WatchConfig

POSIX_ONLY = {
    os: ("O_NONBLOCK", "O_CLOEXEC", "killpg", "geteuid", "getuid", "mkfifo", "getloadavg"),
    signal: ("SIGKILL", "SIGHUP", "SIGCONT", "SIGSTOP", "SIGPIPE", "SIGUSR1"),
}
SYSTEMS = ["win32", "darwin"]


@pytest.fixture(params=SYSTEMS)
def elsewhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The folder comes first: pytest asks this system for the user's name when it makes one."""
    for module, names in POSIX_ONLY.items() if request.param == "win32" else ():
        for name in names:
            monkeypatch.delattr(module, name, raising=False)
    monkeypatch.setattr(sys, "platform", request.param)
    return str(request.param)


@pytest.fixture
def server() -> object:
    """A process's own listening port: this one's."""

    class Quiet(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_memory_and_the_servers_process_are_read(elsewhere: str, server: HTTPServer) -> None:
    url = f"http://127.0.0.1:{server.server_port}"
    target = {"kind": "llamacpp", "base_url": url, "local": True}
    found = {reading.source: reading for reading in look(WatchConfig(target=target))}
    memory, process = found["memory"], found["process:backend"]
    assert memory.state == process.state == "value"
    assert 0 < memory.values["available_bytes"] <= memory.values["total_bytes"]
    assert process.values["pid"] == os.getpid()
    assert process.values["rss_bytes"] > 1 << 20
    assert process.values["rss_anon_bytes"] is None
    assert process.values["threads"] > 1
    for source in ("kernel_log", "amdgpu"):
        assert found[source].state == "unsupported", source


def test_doctor_says_what_is_there_and_what_is_not(
    elsewhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    states = dict(re.findall(rf"^(\S+) +({'|'.join(get_args(SourceState))})\b", said, re.MULTILINE))
    assert states["memory"] == "value"
    assert states["kernel_log"] == states["cgroup:tester"] == "unsupported"
    assert "a run can be made" in said


IMPORTING = """
import importlib, pkgutil, sys, os, signal
import psutil, trio, httpx, click, msgspec, orjson, numpy, tabulate, jinja2
for module in {modules}:
    sys.modules[module] = None
for name in {os_names}: os.__dict__.pop(name, None)
for name in {signal_names}: signal.__dict__.pop(name, None)
import soakproof
found = [m.name for m in pkgutil.walk_packages(soakproof.__path__, "soakproof.", onerror=lambda name: None)
         if not m.name.startswith(("soakproof.load", "soakproof.testbed", "soakproof.scenarios"))
         and not m.name.endswith("__main__")]
for name in found:
    importlib.import_module(name)
print(len(found))
"""


def test_every_module_is_imported_without_what_only_posix_has() -> None:
    program = IMPORTING.format(
        modules=["fcntl", "resource", "termios", "pty", "pwd", "grp", "syslog"],
        os_names=[*POSIX_ONLY[os], "set_blocking", "sysconf"],
        signal_names=list(POSIX_ONLY[signal]),
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 100
