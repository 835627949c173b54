"""Starting: what it tells, what it refuses, and how it fails."""

import importlib.util
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
from wire import entry, is_running, port_is_open, wait_for

from soakproof import children
from soakproof.errors import SoakproofError, UsageError
from soakproof.testbed import launch
from soakproof.testbed.data import PROBE_MODEL
from soakproof.testbed.launch import Testbed, check_model_name

UNDER_GEVENT = """
from gevent import monkey; monkey.patch_all()
import sys, gevent, gevent.subprocess, urllib.request
from pathlib import Path
from soakproof.testbed.launch import Testbed
turns = []
def turn():
    while True:
        turns.append(1); gevent.sleep(0.01)
turning = gevent.spawn(turn)
with Testbed.start(Path(sys.argv[1]), popen=gevent.subprocess.Popen) as pair:
    urllib.request.urlopen(pair.url + "/live").read()
print(len(turns), pair.alive)
"""
ALONE = "import sys; from pathlib import Path; from soakproof.testbed.alone import run_alone; "


def test_a_pair_tells_where_it_is(testbed: Testbed):
    loaded = entry(testbed.url)
    assert loaded is not None
    assert loaded["backend_url"] == f"{testbed.backend_url}/v1"
    assert testbed.pids == (testbed.pid, loaded["pid"])
    assert testbed.alive
    assert testbed.cache_tokens == pytest.approx(32_000, rel=0.01)
    assert (testbed.log_dir / "engine.log").stat().st_size > 0


def test_slots_and_context_are_as_asked(tmp_path: Path):
    with Testbed.start(tmp_path / "new" / "logs", slots=1, context=4096) as pair:
        loaded = entry(pair.url)
    assert loaded is not None
    command = loaded["launch_command"]
    assert command[command.index("-np") + 1] == "1"
    assert command[command.index("--ctx-size") + 1] == "4096"
    assert "n_slots = 1, n_ctx_slot = 4096" in (pair.log_dir / "engine.log").read_text(errors="replace")


def test_what_is_no_model_file_is_wrong_usage(tmp_path: Path):
    (tmp_path / "notes.gguf").write_text("dear diary")
    with pytest.raises(UsageError, match="begins with b'dear', not b'GGUF'"):
        Testbed.start(tmp_path, model=tmp_path / "notes.gguf")
    with pytest.raises(UsageError, match="cannot read the model file"):
        Testbed.start(tmp_path, model=tmp_path / "missing.gguf")


def test_a_missing_package_is_wrong_usage_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        launch.importlib.util, "find_spec", lambda name: None if name == "xllamacpp" else found(name)
    )
    with pytest.raises(UsageError, match=re.escape('pip install -e ".[testbed]"')):
        Testbed.start(tmp_path)


def test_a_broken_model_is_explained_by_the_logs(tmp_path: Path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(PROBE_MODEL.read_bytes()[:200_000])
    with pytest.raises(SoakproofError) as failure:
        Testbed.start(tmp_path, model=broken)
    told = str(failure.value)
    assert "it ended with status 1 before it was ready" in told
    assert f"cannot load {broken}" in told
    assert "model is corrupted or incomplete" in told


def test_a_taken_port_is_explained(tmp_path: Path, testbed: Testbed):
    with pytest.raises(SoakproofError, match="Address already in use"):
        Testbed.start(tmp_path, port=int(testbed.url.rpartition(":")[2]))


def test_a_gateway_that_dies_silent_does_not_block_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(children, "python", lambda *_: [sys.executable, "-c", "pass"])
    with pytest.raises(SoakproofError, match="status 0 before it was ready"):
        Testbed.start(tmp_path)


@pytest.mark.parametrize("said", ["Welcome to Python!", "[1]", '{"url": 7}', '{"url": "http://127.0.0.1:1"}'])
def test_a_gateway_that_says_something_else_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
):
    monkeypatch.setattr(children, "python", lambda *_: [sys.executable, "-c", f"print({said!r})"])
    with pytest.raises(SoakproofError, match="in place of its address") as failure:
        Testbed.start(tmp_path)
    assert said[:7] in str(failure.value)


@pytest.mark.parametrize("name", ["llm", "Probe", "user.Probe", "llm:latest"])
def test_the_names_that_it_knows_are_those_that_it_serves(testbed: Testbed, name: str):
    check_model_name(name)
    with urllib.request.urlopen(f"{testbed.url}/v1/models/{name}") as answer:
        assert answer.status == 200


def test_a_name_that_it_does_not_know_is_wrong_usage():
    with pytest.raises(UsageError, match=r"has no model 'prob'\n.*did you mean 'Probe'.*Probe or llm"):
        check_model_name("prob")


def test_a_gateway_that_hangs_silent_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(children, "python", lambda *_: [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(launch, "_READY_WITHIN", 0.3)
    with pytest.raises(SoakproofError, match="not ready within"):
        Testbed.start(tmp_path)


def test_under_gevent_others_run_while_it_starts(tmp_path: Path):
    command = [sys.executable, "-c", UNDER_GEVENT, str(tmp_path)]
    turns, alive = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=90
    ).stdout.split()
    assert int(turns) > 10
    assert alive == "False"


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_alone_it_says_how_to_reach_it_and_ends_on_a_signal(tmp_path: Path, stop: signal.Signals):
    script = f"{ALONE} sys.exit(run_alone(log_dir=Path(sys.argv[1]), say=lambda t: print(t, flush=True)))"
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as alone:
        assert alone.stdout is not None
        told = [alone.stdout.readline() for _ in range(7)]
        url = re.findall(r"served at (\S+)", told[0])[0]
        loaded = entry(url)
        assert loaded is not None
        assert f"curl {url}/v1/chat/completions" in "".join(told)
        assert f"--host {url} --model llm" in "".join(told)
        alone.send_signal(stop)
        assert alone.wait(30) == 0
    assert not port_is_open(url)
    assert not is_running(loaded["pid"])


def test_alone_it_ends_with_an_error_when_the_gateway_dies(tmp_path: Path):
    script = f"{ALONE} sys.exit(run_alone(log_dir=Path(sys.argv[1]), say=lambda t: print(t, flush=True)))"
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as alone:
        assert alone.stdout is not None
        alone.stdout.readline()
        gateway = children_of(alone.pid)[0]
        gateway.kill()
        assert alone.wait(30) == 3
        assert "The gateway ended by itself" in alone.stdout.read()


def children_of(pid: int) -> list[psutil.Process]:
    return wait_for(lambda: psutil.Process(pid).children())


def test_a_port_that_is_taken_and_a_folder_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="cannot be taken"):
            Testbed.start(tmp_path, port=taken.getsockname()[1])
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="--logs"):
        Testbed.start(tmp_path / "file" / "logs")
