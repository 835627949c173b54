"""`soakproof testbed`: the pair in the foreground."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import psutil
import pytest
from cli_said import Command

pytest.importorskip("xllamacpp")


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_it_serves_until_it_is_ended_and_leaves_nothing_behind(here: Path) -> None:
    command = [sys.executable, "-m", "soakproof", "testbed", "--logs", "logs"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines: list[str] = []
    while "Ctrl-C ends it" not in (line := process.stdout.readline()):
        assert line, "".join(lines)
        lines.append(line)
    found = re.search(r"is served at (\S+)", "".join(lines))
    assert found
    with urllib.request.urlopen(f"{found[1]}/v1/health", timeout=20) as answer:
        assert json.load(answer)["all_models_loaded"]
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    assert psutil.wait_procs(children, 10)[1] == []
    assert (here / "logs" / "engine.log").is_file()


def test_a_file_that_is_no_model_is_told(here: Path) -> None:
    (here / "model.gguf").write_text("no model")
    command = [sys.executable, "-m", "soakproof", "testbed", "--model-file", "model.gguf"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "model.gguf is not a GGUF file" in done.stderr


def test_a_pipe_is_not_waited_for(here: Path, soakproof: Command, a_run: Path) -> None:
    os.mkfifo(here / "pipe.gguf")
    os.mkfifo(here / "pipe.toml")
    for name, *arguments in (
        ("pipe.gguf", "testbed", "--model-file"),
        ("pipe.toml", "adjudicate", a_run.name, "--policy"),
    ):
        said = soakproof(*arguments, name)
        assert said.code == 64
        assert f"{name} is no regular file" in said.err
