"""A verdict's entry is sealed when it is written: whatever is done to it afterwards is told."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rundirs import sealed

from soakproof.errors import UsageError
from soakproof.report.store import store
from soakproof.run import (
    EntryState,
    missing_verdicts,
    reseal_entry,
    unfinished_verdicts,
    verdict_folders,
    verify,
    verify_entry,
)

FILES = {"verdict.json": "{}", "report.md": "one", "figures/a.svg": "<svg/>"}


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    return store(sealed(tmp_path), "release", FILES)


def state(entry: Path) -> EntryState:
    (found,) = (e for e in verdict_folders(entry.parent.parent) if e.path == entry)
    return verify_entry(found)


def test_an_entry_as_it_was_written_has_no_problems(entry: Path) -> None:
    assert state(entry) == EntryState(sealed=True, problems=(), has_verdict=True)
    assert verify(entry.parent.parent).problems == ()


def cut_seal(entry: Path) -> None:
    lines = (entry / "SEAL").read_text().splitlines()
    (entry / "SEAL").write_text("\n".join(line for line in lines if "verdict.json" not in line) + "\n")


EDITS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a figure": (lambda e: (e / "figures/a.svg").write_text("<svg>"), "figures/a.svg: changed"),
    "a report gone": (lambda e: (e / "report.md").unlink(), "report.md: missing"),
    "added": (lambda e: (e / "figures/b.svg").write_text(""), "figures/b.svg: not in the seal"),
    "verdict": (lambda e: (e / "verdict.json").write_text("[]"), "verdict.json: changed"),
    "a link": (
        lambda e: (
            (e / "verdict.json").rename(e / "figures/x"),
            (e / "verdict.json").symlink_to("figures/x"),
        ),
        "verdict.json: not looked at: it is a link",
    ),
    "its seal": (lambda e: (e / "SEAL").write_text("nothing"), "SEAL: not a seal of this program"),
    "its seal's line": (cut_seal, "verdict.json: not in the seal"),
    "the run's seal": (lambda e: (e / "../../SEAL").write_text("x"), "SEAL: the run's own seal was another"),
}


@pytest.mark.parametrize("what", EDITS)
def test_whatever_is_done_to_an_entry_is_told(entry: Path, what: str) -> None:
    edit, told = EDITS[what]
    edit(entry)
    found = state(entry)
    assert found.problems
    assert any(problem.startswith(told) for problem in found.problems)
    assert found.has_verdict is (what in ("a figure", "a report gone", "added"))


def test_an_entry_of_another_name_or_of_another_run_is_told(entry: Path, tmp_path: Path) -> None:
    newest = entry.with_name("9-release")
    shutil.copytree(entry, newest)
    assert state(newest).problems == ("SEAL: it is of an entry 1-release",)
    other = sealed(tmp_path / "other", records=4)
    copied = shutil.copytree(entry, other / "verdicts" / entry.name)
    assert state(copied).problems == ("SEAL: the run's own seal was another one when this was judged",)


def test_a_whole_run_that_is_moved_keeps_its_verdicts(entry: Path, tmp_path: Path) -> None:
    moved = shutil.move(entry.parent.parent, tmp_path / "kept" / "baseline")
    assert state(moved / "verdicts" / entry.name).problems == ()


def test_an_entry_that_is_gone_is_told_by_those_after_it(entry: Path) -> None:
    run = entry.parent.parent
    later = [store(run, "release", FILES) for _ in range(3)]
    (entry.parent / ".5").mkdir()  # of a judgement that was killed
    store(run, "release", FILES)
    assert missing_verdicts(run) == []
    shutil.rmtree(entry)
    entry.write_text("no folder")
    shutil.rmtree(later[1])
    assert missing_verdicts(run) == [1, 3]
    later[0].rename(later[0].with_name("999999999-release"))
    assert missing_verdicts(run) == [1, 2, 3, 7, 8]
    with pytest.raises(UsageError, match="999999999"):
        store(run, "release", FILES)


def test_a_claim_below_the_newest_is_told_apart_from_one_under_way(entry: Path) -> None:
    run = entry.parent.parent
    (entry.parent / ".2").mkdir()
    assert unfinished_verdicts(run) == []
    store(run, "release", FILES)
    (entry.parent / ".9").mkdir()
    assert (unfinished_verdicts(run), missing_verdicts(run)) == ([2], [4, 5, 6, 7, 8])


def test_an_entry_without_a_seal_is_not_called_touched(entry: Path) -> None:
    (entry / "SEAL").unlink()
    assert state(entry) == EntryState(sealed=False, problems=(), has_verdict=False)
    reseal_entry(entry, ["report.md"])
    assert not (entry / "SEAL").exists()


def test_what_is_made_again_is_sealed_and_what_was_edited_stays_edited(entry: Path) -> None:
    (entry / "report.md").write_text("two")
    reseal_entry(entry, ["report.md"])
    assert state(entry).problems == ()
    (entry / "verdict.json").write_text("[]")
    reseal_entry(entry, ["report.md"])
    assert state(entry) == EntryState(True, ("verdict.json: not in the seal",), False)
