"""Files that Locust writes at its end: tried at the start, and nothing of them is changed by that."""

import argparse
import os
from pathlib import Path

import pytest

from soakproof.errors import UsageError
from soakproof.load.outputs import csv_prefix, refuse_unwritable, remove_unused


def tried(**given: str | None) -> None:
    refuse_unwritable(argparse.Namespace(**{"html_file": None, "json_file": None, **given}))


def test_a_file_that_is_there_keeps_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "kept.html").write_text("precious")
    tried(html_file=str(tmp_path / "kept.html"))
    assert (tmp_path / "kept.html").read_text() == "precious"


@pytest.mark.parametrize("name", ["new.html", "in/a/folder.html", "{u}-users.html"])
def test_a_new_one_is_not_there_before_its_time(tmp_path: Path, name: str) -> None:
    tried(html_file=str(tmp_path / name))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_was_made_for_a_run_that_is_refused_is_taken_away_again(tmp_path: Path) -> None:
    (tmp_path / "old_stats.csv").write_text("")
    csv_prefix(str(tmp_path / "old"))
    csv_prefix(str(tmp_path / "new" / "deep" / "mine"))
    (tmp_path / "new" / "deep" / "mine_stats.csv").write_text("")  # as Locust does then
    remove_unused()
    assert [path.name for path in tmp_path.iterdir()] == ["old_stats.csv"]
    csv_prefix(str(tmp_path / "new" / "mine"))
    (tmp_path / "new" / "mine_stats.csv").write_text("precious")
    remove_unused()
    assert (tmp_path / "new" / "mine_stats.csv").read_text() == "precious"


@pytest.mark.skipif(os.name != "posix", reason="links that anybody may make")
def test_a_link_to_a_file_that_is_not_there_yet_stays(tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to("target.html")
    tried(html_file=str(tmp_path / "link.html"))
    assert [path.name for path in tmp_path.iterdir()] == ["link.html"]
    assert (tmp_path / "link.html").is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices with names")
def test_a_pipe_without_a_reader_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    tried(html_file=str(tmp_path / "pipe"), json_file=str(tmp_path / "pipe"))
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_what_cannot_be_written_is_refused_with_its_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "out").mkdir()
    tried(json_file=str(tmp_path / "out"))  # Locust writes out.json
    with pytest.raises(UsageError, match=r"--html: .* cannot be written"):
        tried(html_file=str(tmp_path))
    with pytest.raises(SystemExit) as left:
        csv_prefix(str(tmp_path / "file" / "mine"))
    assert left.value.code == 64
    with pytest.raises(UsageError, match=r"--json-file: .* cannot be written"):
        tried(json_file=str(tmp_path / "file" / "below.json"))
