"""The benchmark runs, and each arm reads every chunk that was sent. Speed is not judged here."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, BENCHMARKS / "stamping_server.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.communicate(timeout=10)


@pytest.mark.parametrize("arm", ["raw", "framing", "soakproof", "fasthttp"])
def test_an_arm_reads_all_that_was_sent(arm: str, port: str):
    wanted = ["--arm", arm, "--port", port, "--streams", "3", "--chunks", "20", "--interval", "0.01"]
    command = [sys.executable, BENCHMARKS / "client.py", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["chunks"] == 60
    assert len(found["errors_ms"]) == 3
    assert all(error >= 0 for error in found["errors_ms"])
