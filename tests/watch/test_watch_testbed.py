"""The watch beside the real pair: it sees the seeds in the backend's slots, and follows a killed backend."""

import contextlib
import json
import os
import signal
import sys
import threading
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from patience import eventually as within

from soakproof.clock import RunClock
from soakproof.records import Event, Sample
from soakproof.run import Run, load
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig

if TYPE_CHECKING:
    from soakproof.testbed.launch import Testbed

PATIENCE_S = 60.0
eventually = partial(within, patience_s=PATIENCE_S)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="watches a Linux host")


@pytest.fixture
def own(tmp_path: Path) -> "Iterator[Testbed]":
    """A pair of this test's own: its engine is killed."""
    for package in ("xllamacpp", "starlette", "uvicorn", "httptools"):
        pytest.importorskip(package)
    from soakproof.testbed.launch import Testbed

    with Testbed.start(tmp_path / "testbed") as pair:
        yield pair


def ask_for_long(url: str, model: str, seed: int) -> None:
    """A request that keeps a slot busy until its backend dies."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": "Repeat exactly: hello world 12"}],
        "max_tokens": 12_000,
        "ignore_eos": True,
        "seed": seed,
        "stream": True,
    }
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.suppress(OSError), opener.open(request, timeout=PATIENCE_S) as answer:
        answer.read()


def samples(run: Run, source: str) -> list[Sample]:
    return [s for s in load(run.path).samples if s.source == source]


def events(run: Run, what: str) -> list[Event]:
    return [r for r in load(run.path).records if isinstance(r, Event) and r.what == what]


def test_seeds_are_seen_and_a_killed_backend_is_followed(own: "Testbed", tmp_path: Path) -> None:
    run = Run.create(tmp_path / "runs", "watched", {"format": 1})
    target = {
        "kind": "lemonade",
        "base_url": own.url,
        "prefix": "/v1",
        "model_resolved": own.model,
        "backend_url": own.backend_url,
        "backend_pid": own.backend_pid,
    }
    asking = threading.Thread(target=ask_for_long, args=(own.url, own.model, 424_242))
    asking.start()
    config = WatchConfig(zero_ns=RunClock.start().zero_ns, interval_s=0.25, slots_every_s=2, target=target)
    watch = Watch.start(run.path, config)
    try:
        eventually(lambda: any(424_242 in s.values.get("seeds", ()) for s in samples(run, "slots")))
        os.kill(own.backend_pid, signal.SIGKILL)
        asking.join()
        (restart,) = eventually(lambda: events(run, "restart"))
        seen = eventually(
            lambda: [
                s for s in samples(run, "slots") if s.values.get("backend") not in (None, own.backend_url)
            ]
        )
    finally:
        assert watch.stop() == 0
    assert (restart.details["role"], restart.details["was_pid"]) == ("backend", own.backend_pid)
    assert restart.details["is_pid"] in samples(run, "health")[-1].values["pids"]
    assert seen[-1].state == "value"
    assert seen[-1].values["busy"] == 0
    assert {s.values["pid"] for s in samples(run, "process:front")} == {own.pid}
    assert not [e for e in events(run, "restart") if e.details["role"] == "front"]
