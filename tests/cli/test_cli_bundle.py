"""`soakproof bundle`, and `verify` of what it writes."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from cli_said import Command
from rundirs import begun, orphaned


@pytest.fixture
def judged(soakproof: Command, a_run: Path, policies: Path) -> Path:
    assert soakproof("adjudicate", a_run.name, "--policy", "pass").code == 0
    return a_run


def test_a_bundle_is_made_and_verified_and_judged_elsewhere(
    soakproof: Command, judged: Path, here: Path
) -> None:
    made = soakproof("bundle", "latest", "-o", "soak.tar")
    assert made.code == 0, made.err
    assert all(words in made.out for words in ("verdicts: 1-pass", "as sealed, to the byte", judged.name))
    said = soakproof("verify", "soak.tar", judged.name)
    assert (said.code, "as it was bundled" in said.out, "as they were sealed" in said.out) == (0, True, True)
    with tarfile.open("soak.tar") as archive:
        archive.extractall("elsewhere", filter="data")
    assert soakproof("verify", "--runs", "elsewhere").code == 0
    assert soakproof("adjudicate", "latest", "--policy", "pass", "--runs", "elsewhere").code == 0


def test_without_text_it_says_what_the_seals_do_not_prove(soakproof: Command, judged: Path) -> None:
    assert soakproof("bundle", "latest", "-o", "bare.tar", "--without-text").code == 0
    said = soakproof("verify", "bare.tar")
    assert said.code == 0
    assert "without text, which no seal proves: evidence/load/exchanges.jsonl" in said.out
    assert "taken out: verdicts/1-pass/junit.xml" in said.out


def test_one_without_text_that_was_unpacked_is_told_to_be_no_run(soakproof: Command, judged: Path) -> None:
    soakproof("bundle", "latest", "-o", "bare.tar", "--without-text")
    with tarfile.open("bare.tar") as archive:
        archive.extractall("r3", filter="data")
    (folder,) = Path("r3").iterdir()
    for name in ("latest", judged.name, str(folder), f"{folder}/kept"):
        said = soakproof("adjudicate", name, "--runs", "r3")
        assert (said.code, "a bundle without text can be verified" in said.err) == (64, True), said.err
    assert "a bundle without text can be verified" in soakproof("runs", "--runs", "r3").out
    folder.rename(judged.parent / folder.name)  # beside runs it is in nobody's way
    assert soakproof("verify", "latest").code == 0
    assert soakproof("verify", judged.name).code == 0


@pytest.mark.parametrize("name", ["nosuch.tar", "nosuch.TAR.GZ", "made/nosuch"])
def test_a_file_that_is_not_there_is_told_as_that(soakproof: Command, here: Path, name: str) -> None:
    said = soakproof("verify", name)
    assert (said.code, f"no such file or folder: {name}" in said.err) == (64, True), said.err


def test_without_verdicts(soakproof: Command, judged: Path) -> None:
    made = soakproof("bundle", "latest", "-o", "evidence.tar", "--without-verdicts")
    assert (made.code, "verdicts: left out" in made.out) == (0, True)
    assert soakproof("verify", "evidence.tar").code == 0


def test_one_that_was_touched_is_told(soakproof: Command, judged: Path) -> None:
    soakproof("bundle", "latest", "-o", "soak.tar")
    data = Path("soak.tar").read_bytes()
    Path("soak.tar").write_bytes(data.replace(b'"outcome": "PASS"', b'"outcome": "FAIL"'))
    said = soakproof("verify", "soak.tar")
    assert (said.code, "verdicts/1-pass/verdict.json: changed" in said.out) == (1, True)


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"", "it is empty"), (b"\x1f\x8b\x08", "it is compressed by gzip"), (b"PK\x03", "it is a zip file")],
)
def test_what_is_no_bundle(soakproof: Command, here: Path, content: bytes, told: str) -> None:
    Path("file").write_bytes(content)
    said = soakproof("verify", "file")
    assert (said.code, told in said.err) == (64, True)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("runs", "is a folder"),
        ("nowhere/soak.tar", "there is no folder nowhere"),
        ("there.tar", "is there already"),
        ("{run}/soak.tar", "is in the run itself"),
        ("/dev/null", "is no plain file"),
        ("", "found nothing"),
    ],
)
def test_where_no_bundle_may_be(soakproof: Command, judged: Path, file: str, told: str) -> None:
    Path("there.tar").write_text("mine")
    said = soakproof("bundle", "latest", "-o", file.format(run=judged))
    assert (said.code, told in said.err) == (64, True), said.err
    assert Path("there.tar").read_text() == "mine"


def test_a_file_is_replaced_by_force_and_whole_or_not_at_all(soakproof: Command, judged: Path) -> None:
    Path("soak.tar").write_text("mine")
    assert soakproof("bundle", "latest", "-o", "soak.tar", "--force").code == 0
    assert soakproof("verify", "soak.tar").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on files there")
def test_a_full_disk_leaves_nothing_behind(judged: Path, here: Path) -> None:
    limited = f"ulimit -f 8; exec {sys.executable} -m soakproof bundle latest -o soak.tar"
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "a limit on the size of a file is reached" in done.stderr
    assert sorted(path.name for path in here.iterdir() if "soak.tar" in path.name) == []


def test_through_a_pipe(judged: Path) -> None:
    """Standard output has the archive alone; a reader that leaves is told, and is no fault of ours."""
    command = [sys.executable, "-m", "soakproof"]
    made = subprocess.run([*command, "bundle", "latest", "-o", "-"], capture_output=True, check=True)
    done = subprocess.run(
        [*command, "verify", "-"], input=made.stdout, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, b"standard input" in done.stdout, b"sha256" in made.stderr) == (0, True, True)


def test_runs_that_are_refused(soakproof: Command, judged: Path, here: Path) -> None:
    def refused() -> str:
        said = soakproof("bundle", "latest", "-o", "soak.tar")
        assert said.code == 64, said.out
        assert not Path("soak.tar").exists()
        return said.err

    verdict = judged / "verdicts/1-pass/verdict.json"
    verdict.write_text(json.dumps({"outcome": "FAIL"}))
    assert "verdicts/1-pass/verdict.json: changed" in refused()
    (verdict.parent / "SEAL").unlink()
    assert "verdicts/1-pass: without a seal" in refused()
    verdict.parent.rename(judged / "verdicts/2-pass")
    assert "verdicts/1: gone" in refused()
    with (judged / "evidence/load/checks.jsonl").open("ab") as file:
        file.write(b"{}\n")
    assert "evidence/load/checks.jsonl: changed" in refused()
    held = begun(here / "runs")
    os.rename(held.path, newest := held.path.with_name("zz"))
    assert "still being written" in refused()
    orphaned(newest)
    assert "is not sealed" in refused()


def test_a_bundle_in_the_place_of_a_run(soakproof: Command, judged: Path) -> None:
    soakproof("bundle", "latest", "-o", "soak.tar")
    for command in ("adjudicate", "report", "bundle"):
        said = soakproof(command, "soak.tar", *(("-o", "x.tar") if command == "bundle" else ()))
        assert (said.code, "tar -xf FILE -C runs" in said.err) == (64, True)
