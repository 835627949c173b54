"""Whoever reads, or does not: a command comes to its own end, and nothing steers the terminal."""

import os
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
def test_a_stream_that_is_closed_or_full_changes_no_exit_code(tmp_path: Path, redirected: str) -> None:
    if "full" in redirected and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    judgeable(tmp_path / "runs")
    assert exit_code("verify", redirected=redirected, folder=tmp_path) == 0
    assert exit_code("verify", "nope", redirected=redirected, folder=tmp_path) == 64


def test_names_of_folders_steer_no_terminal(here: Path, soakproof: Command) -> None:
    """A run may have been sent by somebody, folder and all."""
    run = judgeable(here / "runs")
    run.rename(run.with_name("2026\x1b[2J\x1b]0;owned\x07\u202e"))
    for arguments in (
        ["runs"],
        ["verify"],
        ["adjudicate", "latest"],
        ["report", "latest"],
        ["verify", "nope"],
    ):
        said = soakproof(*arguments)
        assert "2026\\x1b[2J" in said.out + said.err
        assert not set(said.out + said.err) & set("\x1b\x07\u202e")
