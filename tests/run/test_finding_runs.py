"""A run is named by its path, its id, a unique part of it, or `latest`."""

from pathlib import Path

import pytest

from soakproof.errors import EXIT_USAGE, UsageError
from soakproof.run import find, read_run

IDS = ("2026-08-20T10-00-00Z-soak-a1b2", "2026-08-20T11-00-00Z-quick-c3d4", "2026-08-21T09-00-00Z-soak-e5f6")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in IDS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
    (tmp_path / "2026-08-22T00-00-00Z-no-run").mkdir()
    (tmp_path / "notes.txt").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "place"),
    [("latest", 2), (IDS[0], 0), ("quick", 1), ("a1b2", 0), ("2026-08-21", 2)],
)
def test_found(runs: Path, name: str, place: int) -> None:
    assert find(runs, name) == runs / IDS[place]


def test_the_latest_is_found_when_its_document_is_gone(runs: Path) -> None:
    damaged = runs / "2026-08-23T00-00-00Z-soak-0707"
    (damaged / "evidence").mkdir(parents=True)
    assert find(runs, "latest") == damaged
    with pytest.raises(UsageError, match=r"has no run.json: what was run, and on what, is not known"):
        read_run(damaged)


def test_a_path_needs_no_runs_folder(runs: Path) -> None:
    assert find(runs / "elsewhere", str(runs / IDS[1])) == runs / IDS[1]


def test_a_part_of_several_names_them(runs: Path) -> None:
    with pytest.raises(UsageError) as told:
        find(runs, "soak")
    assert "is part of 2 runs" in str(told.value)
    assert IDS[0] in str(told.value)
    assert IDS[1] not in str(told.value)
    assert told.value.exit_code == EXIT_USAGE


def test_an_id_that_is_part_of_another_is_the_id(runs: Path) -> None:
    longer = runs / f"{IDS[0]}-2"
    longer.mkdir()
    (longer / "run.json").write_text("{}")
    assert find(runs, IDS[0]) == runs / IDS[0]


def test_no_such_run_names_the_newest(runs: Path) -> None:
    with pytest.raises(UsageError, match=r"no run is called 'nope'(.|\n)*the newest are: .*e5f6"):
        find(runs, "nope")


@pytest.mark.parametrize("name", ["", " ", "a\x00b", "x" * 5000, "ü\n\x1b[2J", "../" * 2000, "*"])
def test_a_name_that_no_run_can_have_is_refused_in_a_few_words(runs: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no run is called|no such file or folder") as told:
        find(runs, name)
    assert len(str(told.value)) < 400
    assert "\x1b" not in str(told.value)


@pytest.mark.parametrize("where", ["x" * 5000, "a\x00b"])
def test_a_folder_that_cannot_be_is_no_folder_of_runs(where: str) -> None:
    with pytest.raises(UsageError, match=r"no runs in|cannot be read"):
        find(Path(where), "latest")


@pytest.mark.parametrize("where", ["", "missing"])
def test_without_any_run_it_says_how_to_make_one(tmp_path: Path, where: str) -> None:
    with pytest.raises(UsageError, match=r"no runs in(.|\n)*locust -f"):
        find(tmp_path / where, "latest")


@pytest.mark.parametrize("content", [None, "", "[]", '{"a": ', "\x00"])
def test_a_folder_that_is_no_run_is_told(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError, match="run"):
        read_run(tmp_path)


def test_a_file_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a directory"):
        read_run(tmp_path / "file")
