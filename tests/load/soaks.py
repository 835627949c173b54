"""Starting real Locust processes on the embedded testbed, and looking at what they leave."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parents[2]
LIGHT = Path(__file__).with_name("light.toml")
THRESHOLDS = """
[[threshold]]
name = "exchanges"
that = "failed_exchanges count == 0"
[[threshold]]
name = "checks"
that = "failed_checks count == 0"
"""
_ON_A_TERMINAL = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.login_tty(0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@contextmanager
def locust(
    folder: Path,
    *arguments: str,
    plan: str = "quick",
    safe: bool = False,
    terminal: int | None = None,
) -> Iterator["subprocess.Popen[str]"]:
    """A Locust process in ``folder``, with its output in locust.log; ended when the block is left.

    Where no plan is named it soaks by `light.toml`.
    ``safe``: without the folder on its import path, as the command `locust` starts. ``terminal``: where
    it is started, in place of the log.
    """
    log = (folder / "locust.log").open("ab")
    light = plan == "quick" and "--plan" not in arguments and "LOCUST_PLAN" not in os.environ
    command = [
        sys.executable,
        *(["-c", _ON_A_TERMINAL, sys.executable] if terminal is not None else []),
        *(["-P"] if safe else []),
        "-m",
        "locust",
        "-f",
        str(ROOT / "locustfiles" / f"{plan}.py"),
        *(["--plan", str(LIGHT)] if light else []),
        *arguments,
    ]
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and k != "LOCUST_HOST"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=log,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL if terminal is None else terminal,
        env=environment,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        log.close()


def output(folder: Path) -> str:
    return (folder / "locust.log").read_text(encoding="utf-8", errors="replace")


def wait_for(what: Callable[[], Any], seconds: float = 60, why: str = "") -> Any:
    """The first true value of ``what``; fails after so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if value := what():
            return value
        time.sleep(0.1)
    raise AssertionError(f"did not come within {seconds} s: {why or what}")


def the_run(folder: Path) -> Path:
    """The newest run in the folder."""
    return sorted((folder / "runs").iterdir())[-1]


def document(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text()))


def lines(run: Path, name: str, node: str = "load") -> list[dict[str, Any]]:
    """The whole lines of an evidence file; a torn one at its end is left out."""
    path = run / "evidence" / node / name
    data = path.read_bytes() if path.exists() else b""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].split(b"\n") if line]


def loaded(folder: Path, exchanges: int = 5) -> Path:
    """Wait until a run of the folder has some closed exchanges; that run."""

    def enough() -> Path | None:
        try:
            run = the_run(folder)
        except (OSError, IndexError):
            return None
        closed = [x for x in lines(run, "exchanges.jsonl") if x["record"] == "closed"]
        return run if len(closed) >= exchanges else None

    return Path(wait_for(enough, 90, f"no load; Locust said:\n{output(folder)[-2000:]}"))


def children(process: "subprocess.Popen[str]") -> dict[str, psutil.Process]:
    """The run's own processes by role: watch, gateway, engine."""
    found = {}
    for child in psutil.Process(process.pid).children(recursive=True):
        command = " ".join(child.cmdline())
        for role, part in (
            ("watch", "soakproof.watch"),
            ("engine", "testbed.engine"),
            ("gateway", "soakproof.testbed"),
        ):
            if part in command:
                found.setdefault(role, child)
                break
    return found


def gone(processes: Iterator[psutil.Process] | list[psutil.Process]) -> bool:
    """Whether all of these very processes have ended."""
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)


def adjudicated(run: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code of `soakproof adjudicate` for a run, and the verdict that it wrote."""
    command = [sys.executable, "-m", "soakproof", "adjudicate", str(run), *options]
    done = subprocess.run(command, cwd=run.parent.parent, capture_output=True, timeout=60, check=False)
    entries = sorted((run / "verdicts").iterdir(), key=lambda entry: int(entry.name.partition("-")[0]))
    return done.returncode, document(entries[-1] / "verdict.json")


def findings(verdict: dict[str, Any], outcome: str) -> set[tuple[str, str]]:
    """Adjudicator and subject of a verdict's findings of that outcome."""
    return {(f["adjudicator"], f["subject"]) for f in verdict["findings"] if f["outcome"] == outcome}
