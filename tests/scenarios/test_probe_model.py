"""The bundled kinds asked of the real llama.cpp, through the gateway, with the probe model."""

import subprocess
import sys
from pathlib import Path

import pytest

from soakproof.testbed.launch import Testbed

SMALL = {
    "structured_json": [],
    "isolation": [],
    "cache_pair": ["prompt=600 tokens"],
    "cancellation": ["bystander=100 tokens"],
    "long_prose": ["prompt=600 tokens", "answer=200 tokens"],
    "refusals": [],
    "near_context": ["prompt=700 tokens"],
    "shared_prefix": ["prompt=400 tokens"],
    "returning": ["prompt=400 tokens", "other=300 tokens", "flood=600 tokens"],
}


@pytest.mark.parametrize("name", SMALL)
def test_every_check_passes(name: str, testbed: Testbed, tmp_path: Path) -> None:
    options = [part for option in SMALL[name] for part in ("--set", option)]
    command = [sys.executable, "-m", "soakproof", "try", name, "-n", "2", *options]
    command += ["--host", testbed.url, "--model", testbed.model]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 iterations completed; every check passed" in done.stdout
