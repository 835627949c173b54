"""Entries of a run's verdicts: numbered, whole or not there, never over an earlier one."""

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import founding_report as founding
import pytest

from soakproof import report
from soakproof.errors import RecorderError, UsageError
from soakproof.report.store import store
from soakproof.run import verdict_folders, verify_entry

FILES = ["SEAL", "figures", "junit.xml", "report.html", "report.md", "verdict.json"]


def digests(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_an_entry_holds_every_form_of_the_report(tmp_path: Path) -> None:
    entry = report.write(tmp_path, founding.verdict(), founding.run(), founding.baseline())
    assert entry == tmp_path / "verdicts" / "1-release"
    assert sorted(p.name for p in entry.iterdir()) == FILES
    figures = sorted(p.name for p in (entry / "figures").iterdir())
    assert figures == [
        f"{name}.svg" for name in ("activity", "first-token", "generation", "prompt", "resources")
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["verdicts"]


def test_judging_again_adds_an_entry_and_touches_no_earlier_one(tmp_path: Path) -> None:
    first = store(tmp_path, "release", {"a.txt": "one"})
    before = digests(first)
    assert store(tmp_path, "nightly", {"a.txt": "two"}).name == "2-nightly"
    assert store(tmp_path, "release", {"a.txt": "three"}).name == "3-release"
    assert digests(first) == before


@pytest.mark.parametrize("inside", [True, False])
def test_no_verdict_is_written_through_a_link(tmp_path: Path, inside: bool) -> None:
    """Into the evidence, say, or out of the run."""
    run = tmp_path / "run"
    elsewhere = run / "evidence/load" if inside else tmp_path / "elsewhere"
    elsewhere.mkdir(parents=True)
    run.mkdir(exist_ok=True)
    (run / "verdicts").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is a link to"):
        store(run, "release", {"a.txt": "one"})
    assert list(elsewhere.iterdir()) == []


def test_reports_are_not_made_again_through_a_link(tmp_path: Path) -> None:
    entry = report.write(tmp_path, founding.verdict(), founding.run(), founding.baseline())
    (tmp_path / "elsewhere").mkdir()
    for figure in (entry / "figures").iterdir():
        figure.unlink()
    (entry / "figures").rmdir()
    (entry / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link to"):
        report.rewrite(entry, founding.verdict(), report.build(founding.verdict(), founding.run(), None))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    entry.rename(tmp_path / "moved")
    entry.symlink_to(tmp_path / "moved")
    assert verdict_folders(tmp_path) == []


def test_numbers_go_on_after_a_gap_and_after_what_a_killed_judgement_left(tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts"
    for name in ("2-release", "10-nightly", ".12", "notes", "x-3"):
        (verdicts / name).mkdir(parents=True)
    assert store(tmp_path, "release", {"a": "x"}).name == "13-release"
    assert (verdicts / ".12").is_dir()


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("policies/my release.toml", "1-my-release"),
        ("../../etc", "1-etc"),
        ("", "1-policy"),
        ("\u202e/\x00", "1-policy"),
        ("a" * 300, f"1-{'a' * 60}"),
    ],
)
def test_a_policys_name_cannot_leave_the_folder(policy: str, name: str, tmp_path: Path) -> None:
    entry = store(tmp_path, policy, {"a": "x"})
    assert entry.parent == tmp_path / "verdicts"
    assert entry.name == name


def test_many_at_once_get_different_numbers_and_are_all_whole(tmp_path: Path) -> None:
    together = Barrier(8)

    def judge(number: int) -> list[Path]:
        together.wait()
        return [store(tmp_path, f"p{number}", {"a.txt": "x" * 1000, "figures/b.svg": "y"}) for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        entries = [entry for made in pool.map(judge, range(8)) for entry in made]
    assert sorted(int(e.name.partition("-")[0]) for e in entries) == list(range(1, 41))
    assert all(sorted(digests(entry)) == ["SEAL", "a.txt", "figures/b.svg"] for entry in entries)
    assert not [p for e in verdict_folders(tmp_path) for p in verify_entry(e).problems]
    assert len(list((tmp_path / "verdicts").iterdir())) == 40


@pytest.mark.skipif(sys.platform == "win32", reason="the limit on a file's size is POSIX")
def test_a_limit_that_is_reached_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    import resource

    first = store(tmp_path, "release", {"a.txt": "one"})
    before = digests(tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(RecorderError, match="cannot write the verdict") as told:
            store(tmp_path, "release", {"figures/small.svg": "x", "large.html": "x" * 200_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "a limit on the size of a file is reached" in str(told.value)
    assert "judge again" in str(told.value)
    assert digests(tmp_path) == before
    assert [p.name for p in (tmp_path / "verdicts").iterdir()] == [first.name]
    assert store(tmp_path, "release", {"a.txt": "two"}).name == "2-release"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "verdicts").write_text("in the way")
    with pytest.raises(RecorderError, match="cannot write the verdict"):
        store(tmp_path, "release", {"a": "x"})


def test_a_report_that_cannot_be_encoded_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        store(tmp_path, "release", {"a": "fine", "b": "\ud800"})
    assert list((tmp_path / "verdicts").iterdir()) == []
