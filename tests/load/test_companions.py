"""A watch that ends or falls silent while the load goes on is told in words, then and at the end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from soakproof.load.companions import Companions
from soakproof.run import Run
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    """A real watch of this host, without a target."""
    (tmp_path / "kmsg").write_text("")
    run = Run.create(tmp_path, "by_hand", {"format": 1})
    watch = Watch.start(run.path, WatchConfig(kmsg=str(tmp_path / "kmsg"), interval_s=0.1))
    yield watch
    if watch.alive:
        os.kill(watch.pid, signal.SIGCONT)
    if watch.status is None:
        watch.stop()


class Looking:
    """Companions with this watch, and what they noted."""

    def __init__(self, watch: Watch) -> None:
        self.noted: list[str] = []
        self.companions = Companions({"watch": watch}, 0.1, self._note)

    def _note(self, what: str, **_: Any) -> None:
        self.noted.append(what)

    def until(self, condition: Callable[[], bool], pause: float = 0.0) -> None:
        until = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < until
            self.companions.look(12.0)
            time.sleep(pause)


def stopped(watch: Watch) -> None:
    os.kill(watch.pid, signal.SIGSTOP)
    while " T " not in Path(f"/proc/{watch.pid}/stat").read_text():
        time.sleep(0.01)


def test_a_watch_that_speaks_is_not_told(watch: Watch) -> None:
    looking, lines = Looking(watch), set()

    def heard_often() -> bool:
        lines.add(watch.latest().get("t_s"))
        return len(lines) > 20

    looking.until(heard_often, pause=0.05)
    assert looking.noted == []
    assert watch.stop() == 0
    assert looking.companions.at_the_end() == []


def test_a_watch_that_falls_silent_is_told_once_and_when_it_is_heard_again(
    watch: Watch, capsys: pytest.CaptureFixture[str]
) -> None:
    looking = Looking(watch)
    stopped(watch)
    looking.until(lambda: "watch_silent" in looking.noted)
    assert "the watch has said nothing for 16 s, 12 s into the load; the run" in capsys.readouterr().out
    for _ in range(50):
        looking.companions.look(13.0)
    assert capsys.readouterr().out == ""
    os.kill(watch.pid, signal.SIGCONT)
    looking.until(lambda: looking.noted == ["watch_silent", "watch_heard_again"], pause=0.05)
    assert "is heard again" in capsys.readouterr().out
    told = looking.companions.at_the_end()
    assert [line.partition(",")[0] for line in told[:-1]] == [
        "the watch has said nothing for 16 s",
        "the watch is heard again",
    ]


def test_a_watch_that_was_killed_is_told(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    looking = Looking(watch)
    os.kill(watch.pid, signal.SIGKILL)
    looking.until(lambda: not watch.alive, pause=0.01)
    looking.until(lambda: looking.noted == ["child_ended"])
    told = "the watch has ended by itself, 12 s into the load"
    assert capsys.readouterr().out == f"{told}; the run goes on\n"
    assert looking.companions.at_the_end() == [told, "a verdict will say what is missing for that"]


@pytest.mark.parametrize(("is_guarded", "more"), [(True, ""), (False, "; the run goes on")])
def test_no_run_is_said_to_go_on_that_ends_with_its_guard(
    is_guarded: bool, more: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    child.wait()
    ended = Watch(child, tmp_path)
    Companions({"watch": ended}, 0.1, lambda *_, **__: None, is_guarded=is_guarded).look(12.0)
    assert capsys.readouterr().out == f"the watch has ended by itself, 12 s into the load{more}\n"
    child.communicate()


def test_a_watch_that_has_to_be_killed_at_the_end_is_told(watch: Watch) -> None:
    looking = Looking(watch)
    stopped(watch)
    watch.stop(timeout=0.1)
    assert looking.companions.at_the_end()[0] == "the watch did not end in order (status -9)"
