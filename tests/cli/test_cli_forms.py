"""`soakproof report --format`: every form again at any time, where it is asked for, never over a file."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from cli_said import Command
from jsonschema import Draft202012Validator

from soakproof.catalog import Catalog
from soakproof.judgement import judge_loaded
from soakproof.report import write
from soakproof.run import load

SCHEMA = json.loads((files("soakproof.report") / "verdict.schema.json").read_text())
NAMES = ["activity", "first-token", "generation", "prompt", "resources"]


@pytest.mark.parametrize("policy", ["pass", "fail", "inconclusive", "error"])
def test_a_verdict_on_disk_keeps_to_the_schema_and_older_ones_are_not_shown(
    soakproof: Command, a_run: Path, policies: Path, policy: str
) -> None:
    soakproof("adjudicate", "latest", "--policy", policy)
    path = a_run / "verdicts" / f"1-{policy}" / "verdict.json"
    document = json.loads(path.read_text())
    Draft202012Validator(SCHEMA).validate(document)
    assert document["outcome"] == policy.upper()
    (path.parent / "SEAL").unlink()  # as builds wrote them that had neither seal nor schema
    path.write_text(json.dumps({k: v for k, v in document.items() if k not in ("$schema", "caveats")}))
    said = soakproof("report", "latest", "--format", "json")
    assert (said.code, said.out) == (64, "")
    assert "has no seal" in said.err


def test_each_form_goes_where_it_is_asked_for(
    soakproof: Command, here: Path, a_run: Path, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soakproof("adjudicate", "latest", "--policy", "fail")
    entry = a_run / "verdicts" / "1-fail"
    for form, name in (("junit", "junit.xml"), ("json", "verdict.json")):
        assert soakproof("report", "latest", "--format", form).out == (entry / name).read_text()
    forms = ("--format", "md", "--format", "png", "--format", "html")
    assert soakproof("report", "latest", *forms, "-o", "out").code == 0
    there = sorted(p.name for p in (here / "out").iterdir())
    assert there == sorted(["report.md", "report.html", *(f"{name}.png" for name in NAMES)])
    assert (here / "out" / "report.html").read_text().startswith("<!DOCTYPE html>")
    said = soakproof("report", "latest", "--format", "md", "-o", "out/")
    assert said.code == 64
    assert "already there: out/report.md; nothing was written" in said.err

    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    said = soakproof("report", "latest", "--format", "github")
    assert "**Verdict: FAIL**" in said.out
    assert "\n::error title=soakproof%3A FAIL::" in said.out
    (here / "summary").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary")
    said = soakproof("report", "latest", "--format", "github")
    assert said.out.startswith("::error title=soakproof%3A FAIL::")
    assert (here / "summary").read_text().startswith("before\n# Soak of ")


@pytest.mark.parametrize("form", [[], ["--format", "junit"]], ids=["table", "junit"])
def test_a_verdict_on_evidence_that_was_changed_since_is_not_handed_out(
    soakproof: Command, a_run: Path, policies: Path, form: list[str]
) -> None:
    soakproof("adjudicate", "latest", "--policy", "pass")
    before = soakproof("report", "latest", *form)
    with (a_run / "evidence/load/exchanges.jsonl").open("r+b") as file:
        file.seek(40)
        file.write(b"X")
    after = soakproof("report", "latest", *form)
    assert (before.code, after.code, after.out) == (0, 1, "")
    assert "evidence/load/exchanges.jsonl: changed" in after.err
    assert "untouched copy" in after.err


def test_a_verdict_that_says_so_itself_is_handed_out(soakproof: Command, a_run: Path, policies: Path) -> None:
    """Whoever judges with the library may judge touched evidence; its verdict says so."""
    soakproof("adjudicate", "latest", "--policy", "pass")
    with (a_run / "evidence/load/exchanges.jsonl").open("ab") as file:
        file.write(b"\n")
    verdict, evidence = judge_loaded(load(a_run), None, "pass", Catalog(policies.parent))
    write(a_run, verdict, evidence, None)
    said = soakproof("report", "latest", "--format", "json")
    assert (said.code, json.loads(said.out)["outcome"]) == (0, "ERROR")


def test_pictures_go_into_the_entry_and_under_its_seal(
    soakproof: Command, here: Path, a_run: Path, policies: Path
) -> None:
    soakproof("adjudicate", "latest", "--policy", "pass")
    figures = a_run / "verdicts" / "1-pass" / "figures"
    assert list(figures.glob("*.png")) == []
    said = soakproof("report", "latest", "--format", "png")
    assert f"{figures.relative_to(here)}/resources.png" in said.out
    assert sorted(p.stem for p in figures.glob("*.png")) == NAMES
    assert soakproof("verify", "latest").code == 0
    png = (figures / "resources.png").read_bytes()
    (figures / "resources.png").write_bytes(png[:-1])
    assert "figures/resources.png: changed" in soakproof("verify", "latest").out
    assert soakproof("report", "latest", "--again").code == 0
    assert (figures / "resources.png").read_bytes() == png
    assert soakproof("verify", "latest").code == 0


REFUSED = (
    (["-o", "x"], "nothing to write without --format"),
    (["--format", "md", "--format", "json"], "there is no folder for them"),
    (["--format", "png", "-o", "-"], "which - cannot take"),
    (["--format", "json", "-o", "nowhere/x.json"], "there is no folder nowhere"),
    (["--format", "svg", "-o", "mine.toml"], "expected a folder"),
    (["--format", "json", "-o", "mine.toml"], "already there: mine.toml"),
    (["--format", "md", "-o", ""], "expected a value, found nothing"),
    (["--format", "pdf"], "'pdf' is not one of"),
)


def test_what_cannot_be_written_is_told_and_nothing_is(
    soakproof: Command, here: Path, a_run: Path, policies: Path
) -> None:
    (here / "mine.toml").write_text("mine")
    soakproof("adjudicate", "latest", "--policy", "pass")
    before = sorted(here.rglob("*"))
    for arguments, told in REFUSED:
        said = soakproof("report", "latest", *arguments)
        assert said.code == 64
        assert told in said.err
        assert sorted(here.rglob("*")) == before
    assert (here / "mine.toml").read_text() == "mine"


def test_in_a_job_on_github_nothing_that_is_printed_commands_its_runner(
    soakproof: Command, here: Path, a_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    a_run.rename(a_run.with_name("2026 ##[error]owned"))
    said = soakproof("report", "::stop-commands::t\n::error::x")
    assert not any(row.lstrip().startswith("::") for row in said.err.splitlines())
    assert "##[" not in soakproof("runs").out
