"""Names for runs: what they refer to, and what becomes of that."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rundirs import judgeable

from soakproof.errors import UsageError
from soakproof.run import SEAL, add_baseline, baselines, has_baseline, read_baseline, remove_baseline, state
from soakproof.run.baselines import NAME
from soakproof.testing.evidence import exchange

WHEN = "2026-11-30T12:00:00+00:00"


@pytest.fixture
def a_run(tmp_path: Path) -> Path:
    return judgeable(tmp_path / "runs", exchange("load-1"))


def test_a_name_refers_to_the_run_by_its_seal(a_run: Path) -> None:
    runs = a_run.parent
    made = add_baseline(runs, "nightly", [a_run], added_at=WHEN, note="the first")
    assert (made.runs[0].run, made.note) == (a_run.name, "the first")
    assert read_baseline(runs, "nightly") == made
    assert list(baselines(runs)) == [made]
    assert state(runs, made.runs[0]) == ""


def test_a_run_that_is_gone_or_sealed_anew_is_told(a_run: Path) -> None:
    runs = a_run.parent
    made = add_baseline(runs, "nightly", [a_run], added_at=WHEN)
    seal = (a_run / SEAL).read_bytes()
    (a_run / SEAL).write_bytes(seal + b"\n")
    assert state(runs, made.runs[0]) == "sealed anew since it was added"
    (a_run / SEAL).unlink()
    assert state(runs, made.runs[0]) == "its seal is gone"
    a_run.rename(runs / "elsewhere")
    assert state(runs, made.runs[0]) == "gone"


def test_a_name_is_taken_until_it_is_removed(a_run: Path) -> None:
    runs = a_run.parent
    add_baseline(runs, "nightly", [a_run], added_at=WHEN)
    with pytest.raises(UsageError, match="there is a baseline 'nightly' already"):
        add_baseline(runs, "nightly", [a_run], added_at=WHEN)
    remove_baseline(runs, "nightly")
    assert not has_baseline(runs, "nightly")
    assert a_run.is_dir()
    with pytest.raises(UsageError, match="no baseline is called 'nightly'"):
        remove_baseline(runs, "nightly")


@pytest.mark.parametrize(
    "name", ["", ".hidden", "a/b", "../up", "with space", "x" * 61, "auto", "latest", "né"]
)
def test_a_name_that_is_none_is_refused(a_run: Path, name: str) -> None:
    assert not has_baseline(a_run.parent, name)
    with pytest.raises(UsageError):
        add_baseline(a_run.parent, name, [a_run], added_at=WHEN)


@given(st.text(max_size=70))
def test_no_name_leads_out_of_its_folder(name: str) -> None:
    if NAME.fullmatch(name):
        assert Path("runs/baselines", f"{name}.json").parent == Path("runs/baselines")
        assert not name.startswith(".")


def test_a_run_of_another_folder_is_refused(a_run: Path, tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    with pytest.raises(UsageError, match="is not in"):
        add_baseline(tmp_path / "others", "nightly", [a_run], added_at=WHEN)


def test_a_file_of_an_earlier_build_is_read(a_run: Path) -> None:
    runs = a_run.parent
    made = add_baseline(runs, "nightly", [a_run], added_at=WHEN)
    (reference,) = made.runs
    older = {"name": "nightly", "run": reference.run, "seal": reference.seal, "added_at": WHEN, "note": ""}
    (runs / "baselines" / "nightly.json").write_text(json.dumps(older))
    assert read_baseline(runs, "nightly") == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"name": 5}',
        '{"name": "other", "run": "r", "seal": "s", "added_at": ""}',
        '{"name": "nightly", "runs": [], "added_at": ""}',
    ],
)
def test_a_file_that_is_no_baseline_is_told(a_run: Path, text: str) -> None:
    runs = a_run.parent
    add_baseline(runs, "nightly", [a_run], added_at=WHEN)
    (runs / "baselines" / "nightly.json").write_text(text)
    with pytest.raises(UsageError):
        read_baseline(runs, "nightly")
    remove_baseline(runs, "nightly")


def test_of_two_that_add_one_name_at_once_one_has_it(a_run: Path) -> None:
    runs = a_run.parent
    with ThreadPoolExecutor(8) as pool:
        added = [pool.submit(add_baseline, runs, "n", [a_run], added_at=WHEN, note=str(n)) for n in range(8)]
    made = [a.result() for a in added if a.exception() is None]
    assert [read_baseline(runs, "n")] == made
    assert all(isinstance(a.exception(), UsageError) for a in added if a.exception())
