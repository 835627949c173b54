"""Locust killed by SIGKILL at any moment: nothing stays behind, and what it left recovers and is no PASS."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from soakproof.run import verify
from tests.load.soaks import adjudicated, document, locust, output, the_run, wait_for

pytestmark = pytest.mark.timeout(240)

LOCUSTFILE = """
import os, signal
from soakproof.load import ending, rig, session, soak
from soakproof.run import writing

def killed(owner, name, *, after):
    real = getattr(owner, name)
    def kill(*given, **more):
        if after:
            real(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, name, kill)

SoakUser = soak("quick")
"""
MOMENTS = {
    "the testbed has started": "killed(rig.Testbed, 'start', after=True)",
    "the watch has started": "killed(rig.Watch, 'start', after=True)",
    "the load begins": "killed(session.Session, 'begin', after=True)",
    "the load was stopped": "killed(session.Session, 'drain', after=False)",
    "the nodes were sealed": "killed(ending, 'raw_result', after=False)",
    "all but the run's SEAL is written": "killed(writing, 'seal_run', after=False)",
}


def left(folder: Path) -> list[psutil.Process]:
    """Processes that were started for a run in this folder: its path stands in their command lines."""
    found = []
    for process in psutil.process_iter():
        try:
            ours = str(folder) in " ".join(process.cmdline())
            if ours and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def is_open(url: str) -> bool:
    with socket.socket() as probe:
        probe.settimeout(2)
        return probe.connect_ex((urlsplit(url).hostname, urlsplit(url).port)) == 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_whenever_it_is_killed_nothing_stays_and_the_run_recovers(tmp_path: Path, moment: str):
    (tmp_path / "killed.py").write_text(LOCUSTFILE + MOMENTS[moment])
    with locust(tmp_path, "--headless", "-t", "3s", "-u", "2", plan=str(tmp_path / "killed")) as process:
        assert process.wait(120) == -9, output(tmp_path)
    wait_for(lambda: not left(tmp_path), 20, f"still there: {left(tmp_path)}")
    run = the_run(tmp_path)
    assert not verify(run).sealed
    target = document(run / "run.json").get("target") or {}
    urls = [target[key] for key in ("base_url", "backend_url") if target.get(key)]
    wait_for(lambda: not any(is_open(url) for url in urls), 20, f"still open: {urls}")

    command = [sys.executable, "-m", "soakproof", "recover", str(run)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert verify(run).problems == ()
    assert verify(run).recovered
    code, verdict = adjudicated(run)
    assert (code, verdict["outcome"]) == (2, "INCONCLUSIVE"), json.dumps(verdict["findings"])[:3000]
