"""`soakproof baseline`, and a run that is compared with one by its name, or with the newest that will do."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_said import Command
from rundirs import judgeable

from soakproof.testing.evidence import check, exchange, iteration


def soaked(runs: Path, seed: int = 1, **more: Any) -> Path:
    """A run that the policy `pass` passes; one of another seed compares with none of this."""
    return judgeable(
        runs,
        exchange("load-1"),
        check("long_prose.length"),
        iteration("long_prose"),
        plan={"name": "soak", "seed": seed},
        **more,
    )


@pytest.fixture
def runs(here: Path, policies: Path) -> Path:
    return here / "runs"


def compared_with(run: Path) -> str | None:
    """The baseline of a run's newest verdict."""
    (*_, entry) = sorted((run / "verdicts").iterdir())
    return json.loads((entry / "verdict.json").read_text())["baseline"]


def test_a_name_is_added_listed_shown_used_and_removed(soakproof: Command, runs: Path) -> None:
    before, now = soaked(runs), soaked(runs)
    added = soakproof("baseline", "add", "nightly", before.name, "--note", "the first")
    assert (added.code, "it was never judged: soakproof adjudicate" in added.out) == (0, True)
    soakproof("adjudicate", before.name, "--policy", "pass")
    assert "judged" not in soakproof("baseline", "show", "nightly").out
    assert soakproof("baseline", "add", "again", before.name).out == f"again: {before.name}\n"
    assert soakproof("baseline", "remove", "again").code == 0
    listed = soakproof("baseline", "list").out
    assert all(word in listed for word in ("nightly", before.name, "unchecked", "the first"))
    shown = soakproof("baseline", "show", "nightly")
    assert (shown.code, "as it was sealed" in shown.out) == (0, True)
    soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    assert compared_with(now) == before.name
    misspelt = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nigthly")
    assert (misspelt.code, "did you mean 'nightly'" in misspelt.err) == (64, True)
    assert soakproof("baseline", "remove", "nightly").code == 0
    assert "no baselines in runs" in soakproof("baseline", "list").out


def test_a_baseline_that_was_touched_is_told_and_not_used(soakproof: Command, runs: Path) -> None:
    before, now = soaked(runs), soaked(runs)
    soakproof("baseline", "add", "nightly", before.name)
    evidence = before / "evidence/load/exchanges.jsonl"
    evidence.write_bytes(evidence.read_bytes().replace(b"long_prose", b"long_prosa"))
    shown = soakproof("baseline", "show", "nightly")
    assert (shown.code, "not as it was sealed" in shown.out) == (1, True)
    refused = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    assert (refused.code, "is not as it was sealed" in refused.err) == (64, True)
    before.rename(runs.parent / "moved")
    refused = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    assert (refused.code, f"the run of nightly, {before.name}, is gone" in refused.err) == (64, True)
    assert "gone" in soakproof("baseline", "list").out


def test_what_was_touched_gets_no_name(soakproof: Command, runs: Path) -> None:
    run = soaked(runs)
    (run / "raw.json").write_text("{}")
    assert soakproof("baseline", "add", "nightly", run.name).code == 64
    assert not (runs / "baselines").exists()


def test_auto_takes_the_newest_that_passed_and_compares_and_says_why_not_the_others(
    soakproof: Command, runs: Path
) -> None:
    good, other, failed, unjudged, now = (soaked(runs, seed) for seed in (1, 2, 1, 1, 1))
    for run in (good, other):
        soakproof("adjudicate", run.name, "--policy", "pass")
    soakproof("adjudicate", failed.name, "--policy", "fail")
    said = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert compared_with(now) == good.name
    assert f"baseline: {good.name}, the newest run that was judged PASS and is comparable" in said.out
    newer = sorted(run.name for run in (other, failed, unjudged) if run.name > good.name)
    told = {unjudged: "never judged", failed: "its newest verdict is FAIL", other: "seed: 1, not 2"}
    for run, why in told.items():  # those made in one second are ordered by chance
        assert (f"not {run.name}: {why}" in said.out) is (run.name in newer)


def test_each_reason_against_a_run_is_told(soakproof: Command, runs: Path) -> None:
    other, failed, now = (soaked(runs, seed) for seed in (2, 1, 1))
    soakproof("adjudicate", other.name, "--policy", "pass")
    soakproof("adjudicate", failed.name, "--policy", "fail")
    said = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert said.code == 64
    assert f"{failed.name}: its newest verdict is FAIL" in said.err
    assert f"{other.name}: seed: 1, not 2" in said.err


def test_auto_without_any_says_what_to_do(soakproof: Command, runs: Path) -> None:
    now = soaked(runs)
    alone = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert (alone.code, "there is no other run in runs" in alone.err) == (64, True)
    unjudged = soaked(runs)
    none = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert none.code == 64
    assert f"{unjudged.name}: never judged" in none.err
    assert not (now / "verdicts").exists()


def test_a_baseline_of_several_runs_is_told_whole_and_loses_one_in_sight(
    soakproof: Command, runs: Path
) -> None:
    first, second, third, now = (soaked(runs) for _ in range(4))
    assert soakproof("baseline", "add", "nightly", first.name, second.name, third.name).code == 0
    shown = soakproof("baseline", "show", "nightly")
    assert (shown.code, shown.out.count("as it was sealed")) == (0, 3)
    soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    newest = max(run.name for run in (first, second, third))
    assert compared_with(now) == newest
    assert all(run.name in (now / "verdicts/1-pass/report.md").read_text() for run in (first, second, third))
    first.rename(runs.parent / "moved")
    assert "gone" in soakproof("baseline", "list").out
    assert soakproof("baseline", "show", "nightly").code == 1
    said = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    assert "2 of its 3 runs are there" in said.out
    assert f"not {first.name}: the run of nightly" in said.out
    report = (now / "verdicts/2-pass/report.md").read_text()
    assert f"left out of the baseline: {first.name}" in report.replace("\\", "")
    assert soakproof("report", now.name, "--again").code == 0
    for run in (second, third):
        run.rename(runs.parent / run.name)
    refused = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "nightly")
    assert (refused.code, "none of the 3 runs of nightly is what it was" in refused.err) == (64, True)


def test_runs_of_several_configurations_are_no_baseline(soakproof: Command, runs: Path) -> None:
    first, other, newer = soaked(runs), soaked(runs, 2), soaked(runs, target={"build": "b2"})
    for run, why in ((other, "seed: 2, not 1"), (newer, "backend_build: b2, not b1")):
        refused = soakproof("baseline", "add", "nightly", first.name, run.name)
        assert refused.code == 64
        assert f"is not of the same configuration as {first.name}" in refused.err
        assert why in refused.err
    twice = soakproof("baseline", "add", "nightly", first.name, first.name)
    assert (twice.code, "stands there twice" in twice.err) == (64, True)
    assert not (runs / "baselines").exists()


def test_a_run_of_the_baseline_is_judged_against_its_other_runs(soakproof: Command, runs: Path) -> None:
    first, second = sorted((soaked(runs), soaked(runs)), key=lambda run: run.name)
    soakproof("baseline", "add", "nightly", first.name, second.name)
    soakproof("adjudicate", second.name, "--policy", "pass", "--baseline", "nightly")
    assert compared_with(second) == first.name
    assert "it is the run itself" in (second / "verdicts/1-pass/report.md").read_text()
    auto = soakproof("adjudicate", first.name, "--policy", "pass", "--baseline", "auto")
    assert "it is one of the 2 runs of nightly, which can be named instead" in auto.out
    both = soakproof("compare", "nightly", second.name)
    assert first.name in both.out.replace("\n", "")


def test_a_later_run_is_no_baseline_by_itself_and_is_told_where_it_is_named(
    soakproof: Command, runs: Path
) -> None:
    began = [{"started_at": f"2026-11-30T12:00:0{n}Z"} for n in range(2)]
    now, later = (soaked(runs, run=of) for of in began)
    soakproof("adjudicate", later.name, "--policy", "pass")
    refused = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert (refused.code, f"{later.name}: it is later" in refused.err) == (64, True)
    named = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", later.name, "--all")
    assert "begun after this run" in " ".join(named.out.split())


def test_auto_passes_a_copy_of_the_run_over(soakproof: Command, runs: Path) -> None:
    now = soaked(runs)
    soakproof("adjudicate", now.name, "--policy", "pass")
    copied = Path(shutil.copytree(now, runs / f"{now.name[:-4]}zzzz"))
    asked = ("adjudicate", copied.name, "--policy", "pass", "--baseline", "auto")
    alone = soakproof(*asked)
    assert (alone.code, f"{now.name}: it is the run itself, under another name" in alone.err) == (64, True)
    before = soaked(runs)
    soakproof("adjudicate", before.name, "--policy", "pass")
    assert soakproof(*asked).code == 0
    assert compared_with(copied) == before.name


def test_auto_passes_a_touched_run_over(soakproof: Command, runs: Path) -> None:
    touched, now = soaked(runs), soaked(runs)
    soakproof("adjudicate", touched.name, "--policy", "pass")
    evidence = touched / "evidence/load/exchanges.jsonl"
    evidence.write_bytes(evidence.read_bytes().replace(b"long_prose", b"long_prosa"))
    said = soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", "auto")
    assert (said.code, f"{touched.name}: {touched.name} is not as it was sealed" in said.err) == (64, True)


def test_files_that_are_no_baselines_hide_none(soakproof: Command, runs: Path) -> None:
    before, now = soaked(runs), soaked(runs)
    soakproof("baseline", "add", "good", before.name)
    folder = runs / "baselines"
    for name, text in (("torn.json", "{"), ("._good.json", "?"), ("good copy.json", "?"), ("notes.txt", "?")):
        (folder / name).write_text(text)
    (folder / "deep.json").write_text("[" * 99_999)
    (folder / "nested.json").write_text('{"runs":' + "[" * 900 + "]" * 900 + "}")
    os.mkfifo(folder / "pipe.json")
    listed = soakproof("baseline", "list")
    assert (listed.code, "good" in listed.out, "torn" in listed.out, "pipe" in listed.out) == (0,) + (
        True,
    ) * 3
    assert "cannot be read" in listed.out
    for name in ("deep", "nested"):
        assert name in listed.out
        for command in (("baseline", "show", name), ("adjudicate", now.name, "--baseline", name)):
            refused = soakproof(*command)
            assert (refused.code, f"{name}.json cannot be read" in refused.err) == (64, True)
    assert soakproof("adjudicate", now.name, "--policy", "pass", "--baseline", before.name).code == 0
    assert soakproof("baseline", "remove", "torn").code == 0


def test_a_runs_own_name_is_no_name_for_another(soakproof: Command, runs: Path) -> None:
    first, second = soaked(runs), soaked(runs)
    for name in (second.name, second.name[-4:]):
        refused = soakproof("baseline", "add", name, first.name)
        assert (refused.code, "which it would hide" in refused.err) == (64, True)


def test_a_name_and_a_run_in_each_others_place_are_told(soakproof: Command, runs: Path) -> None:
    run = soaked(runs)
    said = soakproof("baseline", "add", run.name, "nightly")
    assert (said.code, f"baseline add nightly {run.name}" in said.err) == (64, True), said.err
