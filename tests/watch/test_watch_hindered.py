"""A watch that is stopped for a while, and servers that hang: the evidence says so, nothing else waits."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from patience import eventually

from soakproof.clock import NS, RunClock
from soakproof.judge import Outcome
from soakproof.records import Event, Sample
from soakproof.run import Loaded, Run, load
from soakproof.testing.evidence import adjudicate, evidence
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig

if TYPE_CHECKING:
    from conftest import Server

TREE = Path(__file__).parent / "trees" / "gfx1151"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches a Linux host")
TICK_S = 0.1


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run.create(tmp_path / "runs", "hindered", {"format": 1})


Start = Callable[[dict[str, Any]], Watch]


@pytest.fixture
def start(tmp_path: Path, run: Run) -> Iterator[Start]:
    """Starts a watch on a written host; the test's end ends it."""
    shutil.copytree(TREE, tmp_path / "host")
    (tmp_path / "host/kmsg").write_text("")
    watches: list[Watch] = []

    def one(target: dict[str, Any]) -> Watch:
        config = WatchConfig(
            zero_ns=RunClock.start().zero_ns,
            interval_s=TICK_S,
            target=target,
            proc_root=f"{tmp_path}/host/proc",
            sys_root=f"{tmp_path}/host/sys",
            kmsg=f"{tmp_path}/host/kmsg",
        )
        watches.append(Watch.start(run.path, config, popen=subprocess.Popen))
        return watches[-1]

    yield one
    for watch in watches:
        watch.stop(timeout=5)


def samples(loaded: Loaded, source: str) -> list[Sample]:
    return [s for s in loaded.samples if s.source == source]


def pace(pid: int, sign: int, state: str) -> None:
    os.kill(pid, sign)
    eventually(lambda: (" T " in Path(f"/proc/{pid}/stat").read_text()) == (state == "stopped"))


def test_a_watch_that_is_stopped_for_a_while_misses_its_ticks_and_says_so(run: Run, start: Start) -> None:
    watch = start({})
    eventually(lambda: len(samples(load(run.path), "memory")) > 5)
    pace(watch.pid, signal.SIGSTOP, "stopped")
    time.sleep(2)
    pace(watch.pid, signal.SIGCONT, "running")
    before = len(samples(load(run.path), "memory"))
    eventually(lambda: len(samples(load(run.path), "memory")) > before + 5)
    assert watch.stop() == 0
    loaded = load(run.path)
    due = [s.due_ns for s in samples(loaded, "memory")]
    assert len(set(due)) == len(due)  # no tick is made up for
    assert max(after - first for first, after in pairwise(due)) > 1.4 * NS
    ended = next(r for r in loaded.records if isinstance(r, Event) and r.what == "watch_ended")
    assert ended.details["ticks_missed"] >= 12

    end = ended.t_ns - NS // 5
    spans = {"load_started_ns": due[0], "load_stopping_ns": end, "load_ended_ns": end}
    judged = evidence(loaded.records, run=spans, plan={"watch": {"interval_s": TICK_S}})
    found = adjudicate("coverage", judged)
    assert found["watch"].outcome is Outcome.INCONCLUSIVE
    assert "ticks" in found["watch"].answer
    assert found["source memory"].outcome is Outcome.INCONCLUSIVE


def test_a_front_that_hangs_delays_nothing_else(
    run: Run, start: Start, server: "Server", backend: "Server"
) -> None:
    """As Lemonade does while it unloads a model that streams: health and metrics wait for a lock."""
    server.json("/live", {"status": "ok"})
    backend.json("/slots", [{"id": 0, "is_processing": False}])
    backend.answers["/metrics"] = (200, "text/plain", b"llamacpp:requests_processing 0\n")
    server.hangs |= {"/v1/health", "/metrics"}
    target = {"kind": "lemonade", "base_url": server.url, "prefix": "/v1", "backend_url": backend.url}
    watch = start(target)
    eventually(lambda: samples(load(run.path), "health"))
    assert watch.stop() == 0
    loaded = load(run.path)
    first = samples(loaded, "health")[0]
    assert (first.state, first.reason) == ("timeout", "no answer within 5 s")
    hung = [s for s in samples(loaded, "memory") if first.due_ns <= s.t_ns <= first.t_ns]
    assert len(hung) > 25  # of 50
    assert {s.state for s in samples(loaded, "live")} == {"value"}
    for source in ("slots", "metrics"):
        assert [s.state for s in samples(loaded, source) if s.t_ns <= first.t_ns][:2] == ["value", "value"]
    assert samples(loaded, "metrics:front")[0].state == "timeout"
