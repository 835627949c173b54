"""What a later version wrote is refused in words, and not guessed at; what an earlier one wrote is read."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli_said import Command

from soakproof.formats import NewerError, newer
from soakproof.run import bundle as bundles
from soakproof.run import reseal_entry, seal_run
from soakproof.run.bundle.manifest import read_manifest
from soakproof.run.seal import parse_seal


def told(path: Path, found: Any) -> None:
    """The document with another format, as somebody would write it who seals it as well."""
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": found}))


def header(seal: Path, number: int) -> None:
    seal.write_text(seal.read_text().replace("soakproof seal 1", f"soakproof seal {number}", 1))


@pytest.mark.parametrize("name", ["run.json", "raw.json"])
def test_a_document_of_a_later_version_is_not_judged(
    soakproof: Command, a_run: Path, policies: Path, name: str
) -> None:
    told(a_run / name, 99)
    seal_run(a_run)
    said = soakproof("adjudicate", "latest", "--policy", "pass")
    assert said.code == 64
    assert f"{name} was written by a newer soakproof: format 99; this version reads up to 1" in said.err
    assert "update soakproof" in said.err
    said = soakproof("verify")
    assert said.code == 1
    assert "not verifiable by this version of soakproof" in said.out
    assert "NOT as it was sealed" not in said.out
    assert "of a newer version" in soakproof("runs").out
    assert not (a_run / "verdicts").exists()


@pytest.mark.parametrize("where", ["SEAL", "evidence/load/SEAL"])
def test_a_seal_of_a_later_version_proves_nothing(
    soakproof: Command, a_run: Path, policies: Path, where: str
) -> None:
    header(a_run / where, 12)
    seal_run(a_run) if where != "SEAL" else None
    for command in (("adjudicate", "latest", "--policy", "pass"), ("bundle", "latest", "-o", "a.tar")):
        said = soakproof(*command)
        assert said.code == 64
        assert "cannot be verified by this version" in said.err
        assert f"{where}: written by a newer soakproof: format 12" in said.err
    said = soakproof("verify")
    assert (said.code, "not verifiable by this version" in said.out) == (1, True)


def test_a_verdict_of_a_later_version_is_not_shown(
    soakproof: Command, a_run: Path, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    soakproof("adjudicate", "latest", "--policy", "fail")
    entry = a_run / "verdicts/1-fail"
    told(entry / "verdict.json", 2)
    reseal_entry(entry, ["verdict.json"])
    for edit in (lambda: None, lambda: header(entry / "SEAL", 2)):
        edit()
        assert "of a newer version (1-fail)" in soakproof("runs").out
        said = soakproof("report", "latest")
        assert (said.code, said.out) == (64, "")
        assert "written by a newer soakproof: format 2" in said.err
    assert "not verifiable by this version" in soakproof("verify").out


def test_a_baseline_of_a_later_version_is_not_used(soakproof: Command, a_run: Path) -> None:
    soakproof("baseline", "add", "nightly", "latest")
    told(a_run.parent / "baselines/nightly.json", 2)
    said = soakproof("adjudicate", "latest", "--baseline", "nightly")
    assert (said.code, "nightly.json was written by a newer soakproof" in said.err) == (64, True)
    listed = soakproof("baseline", "list")
    assert (listed.code, "cannot be read" in listed.out) == (0, True)


def test_a_bundle_of_a_later_version_is_told(a_run: Path) -> None:
    data = b'{"format": 2, "run": "x"}'
    with pytest.raises(NewerError, match="written by a newer soakproof: format 2"):
        read_manifest(data)
    made = io.BytesIO()
    bundles.write_bundle(a_run, made)
    made.seek(0)
    assert bundles.check_bundle(made).problems == ()


@pytest.mark.parametrize("document", [{}, {"format": 1}, {"format": 0}])
def test_an_earlier_format_goes_on_to_work(document: dict[str, Any]) -> None:
    assert newer(document) == ""
    assert parse_seal(b"soakproof seal 1 recovered\n")[0] == "recovered"


@pytest.mark.parametrize("found", [2, "1", 1.5, None, True, [1], -1, 10**400])
def test_what_is_no_known_format_is_refused(found: Any) -> None:
    assert newer({"format": found}).startswith("written by a newer soakproof: format ")


@pytest.mark.parametrize("name", ["run.json", "raw.json"])
def test_a_document_that_was_edited_is_told_as_that_whatever_its_format_says(
    soakproof: Command, a_run: Path, policies: Path, name: str
) -> None:
    told(a_run / name, None)
    for command in (("adjudicate", "latest", "--policy", "pass"), ("bundle", "latest", "-o", "a.tar")):
        said = soakproof(*command)
        assert (said.code, "is not as it was sealed" in said.err) == (64, True), said.err
    said = soakproof("verify")
    assert (said.code, "NOT as it was sealed" in said.out) == (1, True)
