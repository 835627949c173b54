"""Whoever reads, or does not: a command comes to its own end, and nothing steers the terminal."""

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_said import Command
from rundirs import judgeable


def exit_code(*arguments: str, redirected: str, folder: Path) -> int:
    """Of the command in a shell that redirects its streams."""
    command = f'exec "$0" -m soakproof "$@" {redirected}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments], cwd=folder, check=False, timeout=60
    ).returncode


@pytest.mark.parametrize("redirected", [">/dev/full", ">&-", ">&- 2>&-", "2>&-", ">/dev/full 2>/dev/full"])
def test_what_is_lost_on_a_full_disk_is_no_success_and_a_closed_stream_changes_nothing(
    tmp_path: Path, redirected: str
) -> None:
    if "full" in redirected and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    judgeable(tmp_path / "runs")
    lost = redirected.startswith(">/dev/full")
    assert exit_code("verify", redirected=redirected, folder=tmp_path) == (3 if lost else 0)
    assert exit_code("verify", "nope", redirected=redirected, folder=tmp_path) == 64


def test_names_of_folders_steer_no_terminal(here: Path, soakproof: Command) -> None:
    """A run may have been sent by somebody, folder and all."""
    run = judgeable(here / "runs")
    run.rename(run.with_name("2026\x1b[2J\x1b[8m\x1b[31m\x1b]0;owned\x07\u202e"))
    for arguments in (
        ["runs"],
        ["verify"],
        ["adjudicate", "latest"],
        ["report", "latest"],
        ["verify", "nope"],
    ):
        said = soakproof(*arguments)
        assert "2026\\x1b[2J\\x1b[8m\\x1b[31m" in said.out + said.err
        assert not set(said.out + said.err) & set("\x1b\x07\u202e")


def test_what_is_wrong_is_told_in_lines_of_bounded_length(here: Path, soakproof: Command) -> None:
    (here / "adjudicators").mkdir()
    judgeable(here / "runs")
    key = "k" * 1_000_000
    (here / "adjudicators" / "mine.toml").write_text(f"[adjudicator.{key}]\n{key} = 1\n")
    said = soakproof("adjudicate", "latest", "--policy", "mine")
    assert said.code == 64
    assert max(map(len, said.err.splitlines())) <= 2001


def test_on_a_terminal_only_our_own_colours_are_shown(tmp_path: Path) -> None:
    run = judgeable(tmp_path / "runs")
    (run / "evidence/load/zz\x1b[31m").mkdir()
    run.rename(run.with_name("2026\x1b[8m"))
    touched = on_a_terminal("verify", "latest", folder=tmp_path)
    (run.with_name("2026\x1b[8m") / "evidence/load/zz\x1b[31m").rmdir()
    judged = on_a_terminal("adjudicate", "latest", folder=tmp_path)
    assert "\x1b" not in touched
    assert "zz\\x1b[31m: not in the seal" in touched
    assert "report: runs/2026\\x1b[8m/verdicts/" in judged
    colours = set(re.findall(r"\x1b\[[^m]*m", judged))
    assert "\x1b[0m" in colours
    assert colours <= {"\x1b[0m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[35m"}


def on_a_terminal(*arguments: str, folder: Path) -> str:
    """What the command writes to a terminal of its own."""
    ours, its = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "soakproof", *arguments]
    done = subprocess.Popen(command, cwd=folder, stdout=its, stderr=its, env=environment)
    os.close(its)
    said = b""
    with contextlib.suppress(OSError):  # the end of a terminal that nobody writes to any more
        while more := os.read(ours, 1 << 16):
            said += more
    os.close(ours)
    done.wait(60)
    return said.decode()
